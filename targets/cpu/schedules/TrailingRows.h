//===- TrailingRows.h - Results of a panel, stored while the next one is summed --------------------------===//
//
// What follows from a tile's sums (scales, activations, rounding) keeps other units of the processor busy than the products do, but its
// instructions stand between two tiles: the products behind them wait. So the sums lie on the stack for a while, and the next panel's loop
// computes and stores what follows from one row of them in each of its first turns.
//
//   TrailingRows trailing(tile, root, n, [&](Value row, IndexValue column) { return index; });
//   trailing.loop(from, to, source, [&](Value panel) { return its first byte; });
//
// Tiles without registers to spare store a panel's results behind its sums.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TRAILINGROWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TRAILINGROWS_H

#include "targets/cpu/schedules/RunTile.h"

namespace weft {

class TrailingRows {
public:
  /// `at` says where a row's columns lie in the results.
  using Place = std::function<llvm::SmallVector<IndexValue>(mlir::Value row, IndexValue column)>;

  TrailingRows(RunTile &tile, mlir::Value root, int64_t n, Place at);
  /// Sums panels [from, to) of a weight, of `n` columns in all, and stores all results. `prepare` may change the source for a panel, and
  /// gives the panel's first byte.
  void loop(mlir::Value from, mlir::Value to, RowRuns source,
            llvm::function_ref<mlir::Value(mlir::Value panel, RowRuns &source)> prepare);

private:
  Beside beside(mlir::Value panel, mlir::Value first);
  void keep(llvm::ArrayRef<mlir::Value> sums);
  void storeRow(mlir::Value row, mlir::Value panel);
  mlir::Value place(mlir::Value row, int64_t vector);

  RunTile &tile;
  KernelContext &c;
  mlir::Value root;
  int64_t n;
  Place at;
  mlir::VectorType type;
  mlir::Value kept; ///< sums, row by row
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TRAILINGROWS_H
