//===- Specification.h - A kernel by itself ---------------------------------------------------------------===//
//
// A kernel operation as a function of its own, with symbols s0, s1, … in order of appearance: equal work has equal text, and a target sees
// nothing of the program around it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_SPECIFICATION_H
#define WEFT_COMPILER_PIPELINE_SPECIFICATION_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

struct Specification {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< one function
  llvm::SmallVector<SymExpr> values;        ///< of s0, s1, … in symbols of the program
  SymMap toFunction;                        ///< the same as a map
};

/// `isWeight[i]`: input i is a constant.
Specification specify(KernelOp kernel, llvm::ArrayRef<bool> isWeight);

} // namespace weft

#endif
