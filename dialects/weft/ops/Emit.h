//===- Emit.h - Helpers of emitScalar and emitElement -------------------------------------------===//
//
// What several families need beyond ElementBuilder: widening, bounds, comparisons that order nan.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_EMIT_H
#define WEFT_DIALECTS_WEFT_OPS_EMIT_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace weft {

/// An element of type `from` in the type that accumulates it.
inline mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Type from,
                         mlir::Type accumulate) {
  mlir::Type scalar = computeType(accumulate), type = scalar;
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(x.getType()))
    type = vector.clone(scalar);
  if (x.getType() == type)
    return x;
  if (isFloat(from))
    return b.create<mlir::arith::ExtFOp>(type, x);
  if (isUnsigned(from))
    return b.create<mlir::arith::ExtUIOp>(type, x);
  return b.create<mlir::arith::ExtSIOp>(type, x);
}

inline mlir::Value zeroOf(ElementBuilder &e, mlir::Type element) {
  return e.constantData(computeType(element), combinerIdentity(Combiner::Sum, element));
}

/// Whether 0 <= position < size, and `all` where there already is a condition.
inline mlir::Value isInside(ElementBuilder &e, mlir::Value all, IndexValue position, SymExpr size) {
  auto &b = e.builder();
  mlir::Value below = e.less(position, e.symbolic(size));
  mlir::Value here = b.create<mlir::arith::AndIOp>(e.nonNegative(position), below);
  return all ? mlir::Value(b.create<mlir::arith::AndIOp>(all, here)) : here;
}

/// Whether an element is the one that an extremum came from: equal to it, or nan.
inline mlir::Value isExtremum(mlir::ImplicitLocOpBuilder &b, mlir::Type element, mlir::Value x,
                              mlir::Value extremum) {
  using namespace mlir::arith;
  if (!isFloat(element))
    return b.create<CmpIOp>(CmpIPredicate::eq, x, extremum);
  mlir::Value nan = b.create<CmpFOp>(CmpFPredicate::UNO, x, x);
  return b.create<OrIOp>(nan, b.create<CmpFOp>(CmpFPredicate::OEQ, x, extremum));
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_EMIT_H
