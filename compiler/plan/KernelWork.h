//===- KernelWork.h - What a kernel computes and moves, as formulas ----------------------------------------===//
#ifndef WEFT_COMPILER_PLAN_KERNELWORK_H
#define WEFT_COMPILER_PLAN_KERNELWORK_H

#include "compiler/plan/Lower.h"

namespace weft {

SymExpr bytesOf(SymTensorType type);

/// Sets the kernel's operations, the bytes it moves and its estimated work, over the symbols of its specification. `haveRoom` says which
/// arguments lie in buffers with room: of those only what is used counts.
void describeWork(mlir::func::FuncOp specification, llvm::ArrayRef<bool> haveRoom,
                  KernelCode &code);

} // namespace weft

#endif
