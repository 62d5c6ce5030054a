//===- TrailingRows.h - Results of a panel, stored while the next one is summed --------------------------===//
//
// What follows from a tile's sums (scales, activations, rounding) keeps other units of the processor busy than the products do, but its
// instructions stand between two tiles: the products behind them wait. So the sums lie on the stack for a while, and the next panel's loop
// computes and stores what follows from one row of them in each of its first turns. The first panel of a tile does it for the last of the
// tile before.
//
//   TrailingRows trailing(tile, root, n, [&](Value nth, Value row, IndexValue column) { return index; });
//   trailing.loop(count, from, to, [&](Value nth) { return its rows; }, [&](Value nth, Value panel) { return the panel's first byte; });
//
// Tiles without registers to spare store a panel's results behind its sums, those whose sums take nearly all from the stack, too.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_TRAILINGROWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_TRAILINGROWS_H

#include "targets/cpu/schedules/tile/RunTile.h"

namespace weft {

class TrailingRows {
public:
  /// `at` says where the columns of a tile's row lie in the results.
  using Place = std::function<llvm::SmallVector<IndexValue>(mlir::Value nth, mlir::Value row,
                                                            IndexValue column)>;

  /// `some`: so many rows of the tile, if not all.
  TrailingRows(RunTile &tile, mlir::Value root, int64_t n, Place at, mlir::Value some = {});
  /// Sums panels [from, to) of a weight, of `n` columns in all, for `count` tiles that follow each other, and stores all results. `prepare`
  /// may change the source for a panel, and gives the panel's first byte.
  void loop(
      mlir::Value count, mlir::Value from, mlir::Value to,
      llvm::function_ref<RowRuns(mlir::Value nth)> sourceOf,
      llvm::function_ref<mlir::Value(mlir::Value nth, mlir::Value panel, RowRuns &source)> prepare);

private:
  Beside beside(mlir::Value nth, mlir::Value panel, mlir::Value from, mlir::Value to);
  void keep(llvm::ArrayRef<mlir::Value> sums);
  void storeRow(mlir::Value row, mlir::Value nth, mlir::Value panel);
  mlir::Value place(mlir::Value row, int64_t vector);

  RunTile &tile;
  KernelContext &c;
  mlir::Value root;
  int64_t n;
  Place at;
  mlir::Value some;
  mlir::VectorType type;
  mlir::Value kept; ///< sums, row by row
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_TRAILINGROWS_H
