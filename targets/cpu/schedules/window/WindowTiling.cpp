//===- WindowTiling.cpp ---------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/WindowTiling.h"
#include "targets/cpu/schedules/tile/GatheredRuns.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kInputElements = 40 << 10; ///< of what a block of rows reads, to stay near
constexpr int64_t kManyElements = 128
                                  << 10; ///< the same beside filters that are more than stays near
constexpr int64_t kLines = 4;            ///< of a block, when sizes are not known
constexpr int64_t kMeetingBytes =
    2048; ///< apart, few sets of the first-level cache have room for 16 lines
constexpr int64_t kFarBytes =
    1536 << 10; ///< of filters, which other data drives from the second-level cache

bool isInside(const ConvolutionWindow &window) {
  return window.low.isConstant(0) && window.high.isConstant(0);
}

std::optional<IntegerDot> dotOf(const ConvolutionShape &s, const VectorMachine &machine) {
  if (!s.hasBytes())
    return std::nullopt;
  return IntegerDot(machine, s.op);
}

bool hasPairs(const ConvolutionShape &s, const VectorMachine &machine) {
  bool even = s.channels % 2 == 0 && machine.addsHalfProducts();
  return s.element().isBF16() && (even || gathersPairs(s, machine) || hasTiledWindows(s, machine));
}

/// Of a panel.
int64_t vectorsOf(const ConvolutionShape &s, const VectorMachine &machine, bool areBytes) {
  int64_t vectors = IntegerTile::vectorsFor(s.filters, machine);
  return areBytes || vectors == 1 ? vectors : panelVectors(s.filters, machine);
}

std::optional<PackedWeight> narrowOf(const ConvolutionShape &s) {
  if (!isHalf(s.element()))
    return std::nullopt;
  return PackedWeight{PackedWeight::Halves, s.filter, s.element()};
}

} // namespace

WindowTiling::WindowTiling(const ConvolutionShape &s, const VectorMachine &machine)
    : dot(dotOf(s, machine)), narrow(narrowOf(s)), pairs(hasPairs(s, machine)),
      tiles(hasTiledWindows(s, machine)), oddPairs(gathersPairs(s, machine)) {
  const ConvolutionWindow &down = s.window[0], &across = s.window[1];
  int64_t ofPixel = oddPairs ? s.channels * 2 : s.channels / (pairs ? 2 : 1),
          bytesOfPixel = s.channels * (pairs ? 2 : 1);
  bool areLines = tiles && bytesOfPixel % kLineBytes == 0; // whole ones are copied
  bool isPixel = down.kernel * across.kernel == 1,
       isMemory = isa_and_nonnull<BlockArgument>(s.op.getInput());
  auto meet = [&](int64_t step, int64_t bytes) {
    return areLines && step * bytesOfPixel % bytes == 0;
  };
  planes = across.stride > 1 && meet(across.stride, isPixel ? kMeetingBytes : kMeetingBytes / 2) &&
           isMemory && down.dilation * across.dilation == 1;
  int64_t step = planes ? 1 : across.stride;
  gap = meet(step, kMeetingBytes / 2) && (planes || !isPixel) ? kLineBytes / (pairs ? 2 : 1) : 0;
  tapsOfRun = across.dilation == 1 && !gap && !planes ? across.kernel : 1;
  apart = tapsOfRun * ofPixel;
  runsApart[0] = down.kernel, runsApart[1] = across.kernel / tapsOfRun;
  inPlace = isMemory && isInside(down) && isInside(across) && !widens() && !gap && !planes &&
            !oddPairs && !(dot && (dot->widens() || apart % dot->group()));
  gathers =
      oddPairs || (dot && !inPlace && !dot->widens() &&
                   GatheredRuns::pays(runsApart[0] * runsApart[1], apart, dot->group(), machine));
  runs[0] = gathers ? 1 : runsApart[0], runs[1] = gathers ? 1 : runsApart[1];
  tapsOfRun = down.kernel * across.kernel / (runs[0] * runs[1]);
  run = oddPairs ? llvm::divideCeil(tapsOfRun * ofPixel, 4) : tapsOfRun * ofPixel;
  vectors = tiles ? 2 : vectorsOf(s, machine, bool(dot));
  mostPixels = pick(s.op, "rows", estimatePixels(machine));
  lines = tiles && !gathers && !s.isLine && (gap || !meet(step, kMeetingBytes)) ? 2 : 1;
  columns = vectors * machine.lanes();
  panels = llvm::divideCeil(s.filters, columns);
  steps = runs[0] * runs[1] * (dot ? llvm::divideCeil(run, dot->group()) : run);
  panelBytes = steps * (dot ? dot->group() : 4) * columns + (dot ? dot->shiftBytes(columns) : 0);
  panelsOfBlock =
      PanelBlocks::panelsOfBlock(panels, panelBytes, pick(s.op, "block", estimateBlock()));
  rows = pick(s.op, "lines", estimateLines(s));
  rowsPass = inPlace || (tiles && copiesAreCheaper(s));
  fold(s);
}

PaddedRows::Block WindowTiling::block(const ConvolutionShape &s) const {
  return {rows,   s.channels, dot && dot->widens() ? &*dot : nullptr, widens(), gap,
          planes, folds - 1};
}

SymExpr WindowTiling::roomsAt(const PaddedRows &padded, const VectorMachine &machine) const {
  SymExpr rows = padded.bytes(machine);
  return widens() ? SymExpr::ceildiv(rows, kLineBytes) * kLineBytes : rows;
}

int64_t WindowTiling::roomsBytes() const {
  if (widens())
    return widened().bytes(panelsOfBlock);
  return gathers ? GatheredRuns::bytes(mostPixels, runsApart[0] * runsApart[1], apart) : 0;
}

bool WindowTiling::isPossible(const ConvolutionShape &s, int64_t pixels) const {
  std::optional<int64_t> width = s.window[1].out.asConstant();
  if (!width || *width < 1)
    return true;
  int64_t parts = llvm::divideCeil(*width, mostPixels), least = *width / parts;
  return pixels == least || (pixels == least + 1 && *width % parts != 0);
}

int64_t WindowTiling::estimatePixels(const VectorMachine &machine) const {
  return tiles ? UnitTile::mostRows()
         : dot ? IntegerTile::mostRows(machine)
               : rowsBy(vectors, machine);
}

int64_t WindowTiling::estimateLines(const ConvolutionShape &s) const {
  const ConvolutionWindow &down = s.window[0], &across = s.window[1];
  auto height = down.out.asConstant(), width = across.out.asConstant();
  if (!height || !width)
    return kLines;
  int64_t line = std::max<int64_t>(1, *width * s.channels * copiedOf(down) * copiedOf(across));
  int64_t room = tiles && blocksOfFilters() > 1 ? kManyElements : kInputElements,
          most = std::max<int64_t>(1, room / line), all = std::max<int64_t>(1, *height);
  return llvm::divideCeil(all, llvm::divideCeil(all, most));
}

void WindowTiling::fold(const ConvolutionShape &s) {
  const ConvolutionWindow &across = s.window[1];
  std::optional<int64_t> width = across.out.asConstant();
  if (lines == 1 || inPlace || !width || *width < 1 || *width > mostPixels)
    return;
  PaddedRows padded(s, block(s));
  int64_t step = padded.stepAcross(), span = *padded.span().asConstant();
  if (padded.stepDown() * span % step != 0)
    return;
  foldRows = padded.stepDown() * span / step;
  folds = 1 + (mostPixels - *width) / foldRows;
}

bool WindowTiling::copiesAreCheaper(const ConvolutionShape &s) const {
  const ConvolutionWindow &down = s.window[0], &across = s.window[1];
  auto height = down.out.asConstant(), width = across.out.asConstant();
  int64_t filters = panels * storedBytes();
  if (!height || !width || filters < kFarBytes)
    return false;
  int64_t blocks = llvm::divideCeil(*height, rows),
          copied = (*height * copiedOf(down) + blocks * down.kernel) *
                   (*width * copiedOf(across) + across.kernel) * s.channels * (dot ? 1 : 2);
  return copied * blocksOfFilters() < filters * blocks;
}

} // namespace weft
