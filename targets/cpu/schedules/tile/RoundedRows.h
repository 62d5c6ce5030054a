//===- RoundedRows.h - Rows that weft.round_blocks rounds, block by block ------------------------------===//
//
//   RoundedRows rows(context, k, block);
//   rows.toReals(from, to, count);                              // k reals per row, one row behind the other
//   rows.toBytes(from, {bytes, steps, corrections, 8}, first, count);     // bytes, and two numbers per block
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_ROUNDEDROWS_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_ROUNDEDROWS_H

#include "targets/cpu/Schedule.h"

namespace weft {

class RoundedRows {
public:
  /// Of rows that RoundBlocksOp::isRegular.
  RoundedRows(KernelContext &context, int64_t k, int64_t block) : c(context), k(k), block(block) {}

  /// Where bytes go: [rows][k], and [rows][k / block] of f32 and of corrections: what a zero point of `zero` on the other side adds to a
  /// block's sum of products, in i32; without `zero` what a zero point of 1 adds, in f32 and times the step.
  struct Bytes {
    mlir::Value bytes, steps, corrections;
    std::optional<int64_t> zero;
  };
  /// Rows [first, first + count) of what lies at `from`.
  void toBytes(mlir::Value from, const Bytes &to, mlir::Value first, mlir::Value count);
  /// Where a block of a row goes whose step and correction each fill two lanes, in vectors of four lanes: its bytes eight by eight, and which
  /// four of them lie n-th; sixteen stay together.
  struct Place {
    llvm::function_ref<mlir::Value(int64_t)> eightAt;
    llvm::function_ref<int64_t(int64_t)> fourAt;
    mlir::Value steps, corrections;
    std::optional<int64_t> zero;
  };
  /// Block `nth`, counted over all rows.
  void toPair(mlir::Value from, mlir::Value nth, const Place &to);
  /// `count` rows.
  void toReals(mlir::Value from, mlir::Value to, mlir::Value count);

private:
  /// The vectors of block `nth`, counted over all rows.
  llvm::SmallVector<mlir::Value> load(mlir::Value from, mlir::Value nth);
  mlir::Value largestBits(llvm::ArrayRef<mlir::Value> vectors);
  /// A block: its bytes, vector by vector and in the lowest bits of i32, are given to `store`.
  struct Rounded {
    mlir::Value step, sum;
  };
  Rounded round(mlir::Value from, mlir::Value nth,
                llvm::function_ref<void(int64_t, mlir::Value)> store);
  mlir::Value joined(mlir::Value first, mlir::Value second);
  mlir::Value integer(int32_t value);
  mlir::Value correction(mlir::Value sum, mlir::Value step, std::optional<int64_t> zero);

  KernelContext &c;
  int64_t k, block;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_ROUNDEDROWS_H
