//===- AttentionRows.h - What attention does with its scores, row by row --------------------------===//
//
//   AttentionRows lines(context, shape, plan, batch, first);
//   lines.softmax(from, to, [&](Value row, Value panel, int64_t v, bool whole) { … });
//   lines.finish(row, column, mean);                 // a vector of the result, stored
//
// Scores of a tile are in scratch as [n / C][rows][C], C two vectors; they become weights in place.
// Every step is done with all rows before the next one is: a row's own steps wait for each other.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONROWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONROWS_H

#include "targets/cpu/schedules/product/AttentionScratch.h"

namespace weft {

class AttentionRows {
public:
  /// The scores of a vector, which are in their place then.
  using Scores =
      llvm::function_ref<mlir::Value(mlir::Value row, mlir::Value panel, int64_t v, bool whole)>;

  /// Of a tile whose first row is `first`.
  AttentionRows(KernelContext &c, const AttentionShape &shape, const AttentionScratch &plan,
                llvm::ArrayRef<mlir::Value> batch, mlir::Value first);

  /// Where scores of a row are, in vector v of a panel.
  mlir::Value address(mlir::Value panel, mlir::Value row, int64_t v) const;
  mlir::Value load(mlir::Value panel, mlir::Value row, int64_t v) const;
  /// What stands before the softmax, of a vector of sums of products: into its place, and as the
  /// result. Columns beyond n are minus infinity; a `whole` panel has none.
  mlir::Value storeScores(mlir::Value panel, mlir::Value row, int64_t v, mlir::Value sums,
                          bool whole) const;
  /// Replaces scores of rows [from, to) by e^(score - largest), or by what stands between the
  /// softmax and the second product of these over their sum.
  void softmax(mlir::Value from, mlir::Value to, Scores scores) const;
  /// What weights of a row are to be multiplied by: one over the sum; nothing if that is done.
  std::optional<mlir::Value> factor(mlir::Value row) const;
  /// Stores what follows from a vector of the result, from column `column` on.
  void finish(mlir::Value row, int64_t column, mlir::Value mean) const;

private:
  using Panel = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value panel, bool whole,
                                                                  mlir::ValueRange carried)>;
  /// Tiles of sums leave time to tell panels without columns beyond n from the one that has some.
  llvm::SmallVector<mlir::Value> everyPanel(mlir::ValueRange init, Panel body) const;
  mlir::Value largest(mlir::Value row, Scores scores) const;
  mlir::Value sumOfPowers(mlir::Value row, mlir::Value largest) const;
  void between(mlir::Value row, mlir::Value factor) const;
  bool dividesWeights() const;
  /// Where a number is kept for a row, until the next step replaces it.
  mlir::Value kept(mlir::Value row) const;
  IndexValue columnOf(mlir::Value panel, int64_t v) const;
  llvm::SmallVector<IndexValue> indexOf(mlir::Value row, IndexValue column) const;
  mlir::Value zeros() const;
  mlir::Value lowest() const;

  KernelContext &c;
  const AttentionShape &s;
  const AttentionScratch &plan;
  const llvm::SmallVector<mlir::Value> batch;
  const mlir::Value first;
  const int64_t lanes;
  const mlir::Type f32;
  const mlir::VectorType vector;
  const mlir::Value scores, numbers, panels;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_ATTENTIONROWS_H
