//===- ConvolutionTiling.cpp - Sizes of tiles, blocks and chunks ------------------------------------------===//

#include "targets/cpu/schedules/ConvolutionTiling.h"
#include <numeric>

namespace weft {
namespace {

constexpr int64_t kTotals = 64 << 10; ///< sums of a block kept between chunks, to stay in L2
constexpr int64_t kFewestPixels = 64, kMostPixels = 256;
constexpr int64_t kChunk =
    384; ///< products summed in one chain; chunks are added up: the error of a long sum stays that of a short one

} // namespace

ConvolutionTiling::ConvolutionTiling(const ConvolutionShape &s, const VectorIsa &isa) {
  int64_t most = isa.registers >= 32 ? 13 : 6, filters = s.filters / s.groups;
  if (s.groups == 1) {
    rows = llvm::divideCeil(filters, llvm::divideCeil(filters, most));
  } else {
    rows = std::min(most, filters); // a tile lies in one group
    while (filters % rows)
      --rows;
  }
  tiles = llvm::divideCeil(filters, rows);
  lastRows = filters - (tiles - 1) * rows;
  vectors = rows * 4 + 5 <= isa.registers ? 4 : 2;
  const ConvolutionWindow &h = s.window[0];
  int64_t common = std::gcd(h.stride, h.dilation);
  sameRow = h.stride / common, sameReach = h.dilation / common;
  phases = h.kernel > 1 ? std::min(h.stride, (h.kernel - 1) * h.dilation + 1) : 1;
  planes = s.window[1].kernel * phases;
  reach = (h.kernel - 1) * h.dilation / h.stride;
  inPlace = llvm::isa<mlir::BlockArgument>(s.op.getInput()) && s.window[0].isPointwise() &&
            s.window[1].isPointwise();
  chunk = std::max<int64_t>(1, kChunk / (h.kernel * s.window[1].kernel));
  bool whole = chunk >= s.channels;
  int64_t group = vectors * isa.lanes,
          fit = whole ? kMostPixels : std::clamp(kTotals / filters, kFewestPixels, kMostPixels);
  pixels = std::max<int64_t>(1, fit / group) * group;
  totalFloats = whole ? 0 : tiles * pixels * slot(isa);
}

SymExpr ConvolutionTiling::stripFloats(const ConvolutionShape &s, const VectorIsa &isa) const {
  return s.window[1].out * reach + (pixels + 2 * int64_t(isa.lanes));
}

} // namespace weft
