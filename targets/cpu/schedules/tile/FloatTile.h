//===- FloatTile.h - Rows of floats by a panel of floats ------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_FLOATTILE_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_FLOATTILE_H

#include "targets/cpu/schedules/tile/RunTile.h"

namespace weft {

/// Weights packed as panels of some vectors, [products of all runs][columns]. Two bf16 in place of each f32, in rows and weights, are
/// multiplied as pairs: what is said of f32 and products is said of pairs then.
class FloatTile : public RunTile {
public:
  FloatTile(KernelContext &c, int64_t rows, int64_t vectors = 2, bool pairs = false)
      : RunTile(c, rows, vectors), pairs(pairs) {}
  int64_t runBytes(int64_t run) const override { return run * columns * 4; }
  int64_t steps(int64_t run) const override { return run; }
  int64_t turns(const RowRuns &source) const override;
  llvm::SmallVector<mlir::Value> accumulate(const RowRuns &rows, mlir::Value panel) override;

private:
  Sums addRun(const RowRuns &source, mlir::Value from, mlir::Value panel, Sums sums) override;
  /// Adds products [k, k + count) of a run.
  Sums addProducts(const RowRuns &source, mlir::Value from, mlir::Value panel, mlir::Value k,
                   int64_t count, Sums sums);
  Sums zeros();
  /// Products of a turn, for so many.
  int64_t unroll(int64_t count) const;
  bool pairs;
  bool inOneChain = false; ///< the whole row is short enough
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_FLOATTILE_H
