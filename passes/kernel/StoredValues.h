//===- StoredValues.h - What kernels will hand over in memory -----------------------------------===//
#ifndef WEFT_PASSES_KERNEL_STOREDVALUES_H
#define WEFT_PASSES_KERNEL_STOREDVALUES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// A result of an operator that others than those of its kernel read.
struct StoredValue {
  mlir::Value value;
  RootKind kernel; ///< that computes it
  bool isReduced;  ///< with fewer elements than its kernel reduces: a mean, a largest score
};

/// Of the kernels that would be formed of the function as it is, on a target that takes every form of attention. In program order.
/// Fails with an error at an operator that no kernel can compute.
mlir::FailureOr<llvm::SmallVector<StoredValue>> storedValues(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_PASSES_KERNEL_STOREDVALUES_H
