//===- HostExpressions.h - Symbolic expressions as code of the host program -------------------------------===//
//
// Expressions live in the compiler's context, code in another: only names cross.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_HOSTEXPRESSIONS_H
#define WEFT_COMPILER_HOST_HOSTEXPRESSIONS_H

#include "dialects/symbolic/SymFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace weft {

class HostExpressions {
public:
  explicit HostExpressions(mlir::ModuleOp module) : b(module.getLoc(), module.getContext()) {}

  mlir::Value constant(int64_t v) {
    return b.create<mlir::arith::ConstantOp>(b.getI64IntegerAttr(v));
  }
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value a, mlir::Value c) {
    return b.create<mlir::arith::CmpIOp>(p, a, c);
  }
  /// As i64, evaluated where the builder stands; once as long as `emitted` remembers.
  mlir::Value emit(SymExpr expr);
  /// The same in double arithmetic: sizes too large for int64 are noticed before any integer wraps.
  mlir::Value emitReal(SymExpr expr);
  /// In doubles an upper bound of whatever integer arithmetic meets on the way to the value.
  mlir::Value emitMagnitude(SymExpr expr);
  mlir::Value emit(const SymPred &pred);

  mlir::ImplicitLocOpBuilder b;
  llvm::StringMap<mlir::Value> symbols; ///< what they are here
  llvm::DenseMap<SymExpr, mlir::Value> emitted;

private:
  mlir::Value divisor(mlir::Value value);
  mlir::Value realConstant(double v);
  mlir::Value realSymbol(mlir::StringAttr name);
};

} // namespace weft

#endif
