//===- Winograd.h - How a 3x3 convolution is cut for Winograd's method ----------------------------------------------===//
//
// A tile is m x m results. Tiles count over all images, row by row; a block of them is transformed at once:
//
//   lines     [channel][aligned, shifted][n rows][columns of the tiles side by side]   columns transformed, for a few channels
//   elements  [n * n][channel][tile]                                                   B^T d B
//   products  [n * n][filter][tile]                                                    of one group of filters
//   results   [filter][m][columns of the tiles side by side]                           A^T p A
//
//   if (auto shape = WinogradShape::match(spec, machine)) … shape->m …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRAD_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRAD_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct WinogradShape : ConvolutionShape {
  int64_t m, n;               ///< results and elements of a tile's side
  int64_t rows, filterGroups; ///< filters in registers, and how often
  int64_t tiles;              ///< of a block: whole vectors
  int64_t pitch;              ///< of elements: vectors of tiles may begin anywhere
  int64_t lineWidth;          ///< of lines

  static Match<WinogradShape> match(mlir::func::FuncOp spec, const VectorMachine &machine);

  unsigned input() const { return llvm::cast<mlir::BlockArgument>(op.getInput()).getArgNumber(); }
  SymExpr tileRows() const { return SymExpr::ceildiv(window[0].out, m); }
  SymExpr tileColumns() const { return SymExpr::ceildiv(window[1].out, m); }
  SymExpr allTiles() const { return batch * tileRows() * tileColumns(); }
  SymExpr blocks() const { return SymExpr::ceildiv(allTiles(), tiles); }
  /// Parts of the filters: few blocks are cut further, at the price of transforming what they read once per worker.
  SymExpr parts() const;

  static constexpr int64_t kChannelsTogether = 4; ///< transformed with one set of masks
  int64_t lineFloats() const { return 2 * n * lineWidth; }
  // Where things lie in scratch, in floats.
  int64_t elementsAt() const { return kChannelsTogether * lineFloats(); }
  int64_t productsAt() const { return elementsAt() + n * n * channels * pitch; }
  int64_t resultsAt() const { return productsAt() + n * n * rows * tiles; }
  int64_t scratchFloats() const { return resultsAt() + rows * m * m * tiles; }
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRAD_H
