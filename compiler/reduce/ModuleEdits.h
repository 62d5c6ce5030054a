//===- ModuleEdits.h - Single edits of a program, and what makes it whole again ---------------===//
#ifndef WEFT_COMPILER_REDUCE_MODULEEDITS_H
#define WEFT_COMPILER_REDUCE_MODULEEDITS_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Operations right in a function's body that compute something from operands, or bind symbols.
llvm::SmallVector<mlir::Operation *> operatorsOf(mlir::func::FuncOp function);

/// Takes operators out of a function. Values that others still read become arguments; values that
/// nobody reads any more become results. False when no result is left.
bool removeOperators(mlir::func::FuncOp function,
                     const llvm::SetVector<mlir::Operation *> &operators);

/// The operand that can stand for the operation's only result; null when types differ.
mlir::Value forwardedOperand(mlir::Operation *op);

/// The operators of a branch take the place of the condition. False when its types are not the
/// results'.
bool inlineBranch(IfOp op, mlir::Region &branch);

/// Erases what nobody reads, then declares the symbols that are left, and the facts about them.
void tidy(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_MODULEEDITS_H
