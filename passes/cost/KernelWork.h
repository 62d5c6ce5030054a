//===- KernelWork.h - What a kernel computes and moves, as formulas ----------------------------------------===//
#ifndef WEFT_PASSES_COST_KERNELWORK_H
#define WEFT_PASSES_COST_KERNELWORK_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Of one call, over the symbols of the kernel's specification.
struct KernelWork {
  SymExpr flops, bytesMoved;
  SymExpr points;  ///< of all operators
  SymExpr touched; ///< as bytesMoved, but of a table that is looked up only what is looked up
  SymExpr work;    ///< kWorkOfNanosecond take about a nanosecond
};
constexpr int64_t kWorkOfNanosecond = 128;

SymExpr bytesOf(SymTensorType type);

/// `haveRoom` says which arguments lie in buffers with room: of those only what is used counts.
KernelWork workOf(mlir::func::FuncOp specification, llvm::ArrayRef<bool> haveRoom);

} // namespace weft

#endif
