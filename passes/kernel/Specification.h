//===- Specification.h - A kernel by itself ---------------------------------------------------------------===//
//
// A kernel operation as a function of its own, with symbols s0, s1, … in order of appearance: equal work has equal text, and a target sees
// nothing of the program around it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_SPECIFICATION_H
#define WEFT_PASSES_KERNEL_SPECIFICATION_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

struct Specification {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< one function
  llvm::SmallVector<SymExpr> values;        ///< of s0, s1, … in symbols of the program
  SymMap toFunction;                        ///< the same as a map

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
};

/// The value whose memory a chain of reshapes names.
mlir::Value baseOf(mlir::Value value);
/// The kernel's specification; inputs that are constants or a rank's parts of them are its weights. So are those that ranks gather, which then may
/// lie as the kernel wants, if `gathers`.
Specification specify(KernelOp kernel, bool gathers = true);

} // namespace weft

#endif
