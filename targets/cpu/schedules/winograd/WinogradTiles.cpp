//===- WinogradTiles.cpp - Sizes of Winograd's tiles and blocks -----------------------------------------------===//

#include "targets/cpu/schedules/winograd/WinogradTiles.h"
#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "targets/cpu/schedules/tile/UnitTile.h"
#include "targets/cpu/schedules/winograd/WinogradTransform.h"

using namespace mlir;

namespace weft {
namespace {

/// How floats and bytes differ.
struct Limits {
  int64_t blockKiB; ///< of a block's elements and products
  int64_t candidates[3];
  int64_t panelsAtOnce; ///< at most
};
constexpr Limits kLimits[] = {
    {10 << 10, {5 << 10, 10 << 10, 20 << 10}, INT64_MAX}, // floats pass through L3
    {640, {320, 640, 1280}, 1}};                          // bytes stay in L2
constexpr int64_t kMostRowTiles = 10;                     ///< of a block
/// Of floats. With fewer, the transforms cost more than they save.
constexpr int64_t kFewestChannels = 8;
constexpr int64_t kSavedProducts = 4; ///< one of so many is left
/// Channels by filters. Beyond, filters for tiles of 4 are too many bytes for small images.
constexpr int64_t kMostForFour = 256 * 256;

/// Nothing when numbers of 16 bits and sums of 32 give the results of bytes.
Decline unlessExact(const ConvolutionShape &shape, const VectorMachine &machine) {
  static_assert(kNarrowSumBits <= WinogradTransform::kExactBits);
  if (!shape.op->hasAttr(kNarrowSumsAttr))
    return {"sums may take more than 26 bits"};
  if (shape.channels % (2 * machine.lanes()) && !machine.masks(8))
    return {"channels fill no vectors, and the target has no masks"};
  if (shape.channels * shape.filters > kMostForFour)
    return {"the filters are so many that transformed ones take longer to read than to multiply"};
  return {};
}

} // namespace

Match<WinogradTiles> WinogradTiles::match(func::FuncOp spec, const VectorMachine &machine,
                                          Kind kind) {
  Match<ConvolutionShape> shape = ConvolutionShape::match(spec, /*channelsLast=*/true);
  if (!shape)
    return shape.decline();
  Decline why = shape->unlessThreeByThree(kind == Bytes);
  if (!why && kind == Bytes)
    why = unlessExact(*shape, machine);
  if (!why && hasTiledWindows(*shape, machine))
    why = {"a unit for tiles multiplies more at once than transforms save"};
  if (why)
    return why;
  WinogradTiles s{*shape, kind};
  if (s.instructions(machine) >= kSavedProducts)
    return Decline{"products of bytes sum more at once than transforms save"};
  int64_t inVector = s.lanes(machine) / machine.lanes(); // channels, for one float
  // Products of one vector of filters save half as much beside transforms of as many channels.
  int64_t vectors = IntegerTile::vectorsFor(s.filters, machine);
  if (s.channels * vectors < 2 * kFewestChannels * inVector * s.instructions(machine))
    return Decline{kFewChannels};
  s.columns = vectors * machine.lanes();
  s.panels = llvm::divideCeil(s.filters, s.columns);
  s.panelsAtOnce = std::min(s.panels, kLimits[kind].panelsAtOnce);
  s.width = s.panelsAtOnce * s.columns;
  s.pitch = llvm::alignTo(s.channels, s.lanes(machine));
  // Tiles shall not meet in few sets of the first-level cache.
  if (s.pitch * s.elementBytes() % 1024 == 0)
    s.pitch += s.lanes(machine);
  for (int64_t m : {4, 2}) {
    if (m == 4 ? s.channels * s.filters > kMostForFour : kind == Bytes)
      continue;
    s.m = m, s.n = m + 2;
    s.tiles = s.tilesOf(pick(s.op, "block", kLimits[kind].blockKiB), machine);
    if (s.isWorthIt(machine))
      return s;
  }
  return Decline{kWasteful};
}

int64_t WinogradTiles::instructions(const VectorMachine &machine) const {
  if (kind != Bytes)
    return 1;
  IntegerDot dot(machine, op);
  int64_t pairs =
      dot.unit() == Unit::ByteQuads ? dot.group() / 2 : 1; // pairs of bytes are to be widened
  return pairs == 1 ? 1 : pairs * machine.pairInstructions();
}

/// Whether known images have so few results in their last tiles that the method saves a quarter of the instructions.
bool WinogradTiles::isWorthIt(const VectorMachine &machine) const {
  auto tiles = (tileRows() * tileColumns()).asConstant(), pixels = this->pixels().asConstant();
  return !tiles || !pixels || *tiles * n * n * instructions(machine) * 4 <= *pixels * 9 * 3;
}

/// Small blocks are even in number, as workers mostly are, but where one is enough.
SymExpr WinogradTiles::blocks() const {
  SymExpr least = SymExpr::ceildiv(allTiles(), tiles);
  if (kind != Bytes)
    return least;
  return SymExpr::max(least, SymExpr::min(SymExpr::ceildiv(least, 2) * 2, least * 2 - 1));
}

SymExpr WinogradTiles::parts() const {
  SymExpr one = SymExpr::constant(op.getContext(), 1);
  int64_t most = std::clamp<int64_t>(panels / 2, 1, 4);
  return most == 1 ? one : SymExpr::max(one, SymExpr::min(one * most, one * (most + 1) - blocks()));
}

int64_t WinogradTiles::tilesOf(int64_t blockKiB, const VectorMachine &machine) const {
  int64_t rows = weft::tileRows(machine),
          fit = (blockKiB << 10) / (n * n * (pitch * elementBytes() + width * 4)) / rows;
  return std::clamp<int64_t>(fit, 1, kMostRowTiles) * rows;
}

void WinogradTiles::offerBlocks(std::vector<Choice> &list, const VectorMachine &machine) const {
  offer(list, "block", kLimits[kind].candidates, kLimits[kind].blockKiB,
        [&](int64_t kib) { return tilesOf(kib, machine); });
}

WeightLayout WinogradTiles::layout() const {
  return WeightLayout::winograd(m, columns, kind == Bytes ? WeightLayout::I16 : filterForm());
}

int64_t WinogradTiles::panelBytes() const {
  int64_t together = 4 / elementBytes(); // channels in a word
  return llvm::divideCeil(channels, together) * columns * 4;
}

} // namespace weft
