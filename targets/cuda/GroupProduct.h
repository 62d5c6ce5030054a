//===- GroupProduct.h - Products of four warps together ---------------------------------------------------===//
//
//   sums = multiplyAddGroup(k, element, {{rows' fragments, right.described(0)}, {…, right.described(16)}}, isTurned, sums);
//
// Newer GPUs (sm_90a) multiply 64 rows, 16 for each of a block's four warps, by up to 256 columns at once, whose elements the unit reads from shared
// memory by itself, while threads go on. Here rows are fragments in registers, so they may lie as they like, and the warps wait for what they began.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_GROUPPRODUCT_H
#define WEFT_TARGETS_CUDA_GROUPPRODUCT_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

constexpr int64_t kGroupRows = 64;

/// Operands for 16 steps.
struct GroupStep {
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> left; ///< of the warp's 16 of each 64 rows
  mlir::Value right;                                      ///< FragmentTile::described
};

/// Adds to sums, which follow each other by 64 rows, then by 8 columns, as multiplyAdd() has them. `isTurned`: columns are neighbours in memory, not
/// steps. Behind a barrier that follows showToProducts().
llvm::SmallVector<mlir::Value> multiplyAddGroup(SimtKernel &k, mlir::Type element,
                                                llvm::ArrayRef<GroupStep> steps, bool isTurned,
                                                mlir::ValueRange sums);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_GROUPPRODUCT_H
