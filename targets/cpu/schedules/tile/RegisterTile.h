//===- RegisterTile.h - Sums of products that stay in registers -------------------------------------===//
//
//   TileSource source{rows, rowStride, panel, columnStride};
//   multiplyAdd(context, source, depth, unroll, sums, rows, vectors);   // sums[row * vectors + vector]
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_REGISTERTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_REGISTERTILE_H

#include "targets/cpu/Schedule.h"

namespace weft {

/// What is fetched into the second-level cache while something is summed: with every step some lines, `stride` bytes further. Nothing where
/// `from` is null.
struct Ahead {
  mlir::Value from = {}, stride = {};
  int64_t lines = 1;
  /// The same, for what follows after `steps`.
  Ahead behind(KernelContext &context, mlir::Value steps) const;
  void fetch(KernelContext &context, mlir::Value step) const;
};

/// Rows in registers: sums[r][v] += A[r, k] * B[k, v] for k in [0, depth). A's rows are `rowStride` elements apart and what follows along k
/// `depthStride` (constants keep one base register), B's are at `columns + k * columnStride` elements.
struct TileSource {
  mlir::Value a;
  int64_t rowStride;
  mlir::Value b;
  mlir::Value columnStride;
  int64_t depthStride = 1;
  bool pairs = false; ///< two bf16, in place of each f32: two k's are multiplied at once
  Ahead ahead = {};   ///< a step for every k
  std::function<void(mlir::Value k)> everyTurn = {}; ///< of the loop, which begins with k
};
void multiplyAdd(KernelContext &context, const TileSource &source, mlir::Value depth,
                 int64_t unroll, llvm::SmallVectorImpl<mlir::Value> &sums, int64_t rows,
                 int64_t vectors);
/// Rows of a register tile, and columns in vectors of two.
inline int64_t tileRows(const VectorMachine &machine) { return machine.productRows().most; }
inline int64_t tileColumns(const VectorMachine &machine) { return 2 * machine.lanes(); }
/// Vectors of a panel of floats with so many columns in all: three where the machine has tiles for it and the last panel is not much emptier
/// than that of two would be. And the rows that are estimated to go with them.
int64_t panelVectors(int64_t columns, const VectorMachine &machine);
int64_t rowsBy(int64_t vectors, const VectorMachine &machine);
/// Of a tile's vectors of columns, those that are loaded at once before the rows are multiplied by them.
int64_t loadedTogether(int64_t vectors, const VectorMachine &machine);
/// The choice of rows for tiles of `m` rows in all: fewer leave registers to spare, which is of use where what they are read from is far.
void offerRows(std::vector<Choice> &list, SymExpr m, int64_t estimate,
               const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_REGISTERTILE_H
