//===- ConvolutionTiling.cpp - Sizes of tiles, blocks and chunks ------------------------------------------===//

#include "targets/cpu/schedules/window/ConvolutionTiling.h"
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kTotals = 64 << 10; ///< sums of a block kept between chunks, to stay in L2
constexpr int64_t kFewestPixels = 64, kMostPixels = 256;
constexpr int64_t kPixelCandidates[] = {128, 256, 512};
constexpr int64_t kChunk =
    384; ///< products summed in one chain; chunks are added up: the error of a long sum stays that of a short one

/// Filters in a tile of `most` at most.
int64_t rowsOf(const ConvolutionShape &s, int64_t most) {
  int64_t filters = s.filters / s.groups;
  if (s.groups == 1)
    return llvm::divideCeil(filters, llvm::divideCeil(filters, most));
  int64_t rows = std::min(most, filters); // a tile lies in one group
  while (filters % rows)
    --rows;
  return rows;
}

} // namespace

std::vector<Choice> ConvolutionTiling::choices(const ConvolutionShape &s,
                                               const VectorMachine &machine) {
  std::vector<Choice> list;
  offer(list, "rows", machine.filterRows().candidates, machine.filterRows().most,
        [&](int64_t most) { return rowsOf(s, most); });
  ConvolutionTiling t(s, machine);
  offer(list, "pixels", kPixelCandidates, kMostPixels,
        [&](int64_t most) { return t.pixelsOfBlock(s, machine, most); });
  return list;
}

ConvolutionTiling::ConvolutionTiling(const ConvolutionShape &s, const VectorMachine &machine) {
  int64_t filters = s.filters / s.groups;
  rows = rowsOf(s, pick(s.op, "rows", machine.filterRows().most));
  tiles = llvm::divideCeil(filters, rows);
  lastRows = filters - (tiles - 1) * rows;
  vectors = machine.holds(rows * 4 + 5) ? 4 : 2;
  const ConvolutionWindow &h = s.window[0];
  int64_t common = std::gcd(h.stride, h.dilation);
  sameRow = h.stride / common, sameReach = h.dilation / common;
  phases = h.kernel > 1 ? std::min(h.stride, (h.kernel - 1) * h.dilation + 1) : 1;
  planes = s.window[1].kernel * phases;
  reach = (h.kernel - 1) * h.dilation / h.stride;
  inPlace = llvm::isa<mlir::BlockArgument>(s.op.getInput()) && s.element().isF32() &&
            s.window[0].isPointwise() && s.window[1].isPointwise();
  chunk = std::max<int64_t>(1, kChunk / (h.kernel * s.window[1].kernel));
  pixels = pixelsOfBlock(s, machine, pick(s.op, "pixels", kMostPixels));
  totalFloats = isWhole(s) ? 0 : tiles * pixels * slot(machine);
}

int64_t ConvolutionTiling::pixelsOfBlock(const ConvolutionShape &s, const VectorMachine &machine,
                                         int64_t most) const {
  int64_t group = vectors * machine.lanes(), filters = s.filters / s.groups;
  int64_t fit = isWhole(s) ? most : std::clamp(kTotals / filters, kFewestPixels, most);
  return std::max<int64_t>(1, fit / group) * group;
}

SymExpr ConvolutionTiling::stripFloats(const ConvolutionShape &s,
                                       const VectorMachine &machine) const {
  return s.window[1].out * reach + (pixels + 2 * int64_t(machine.lanes()));
}

} // namespace weft
