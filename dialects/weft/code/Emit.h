//===- Emit.h - Helpers of emitScalar and emitElement -------------------------------------------===//
//
// What several families need beyond ElementBuilder: numbers, comparisons, widening, bounds.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_CODE_EMIT_H
#define WEFT_DIALECTS_WEFT_CODE_EMIT_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace weft {

/// A number as `like` is: a scalar or all lanes of a vector.
inline mlir::Value number(mlir::ImplicitLocOpBuilder &b, mlir::Type like, double value) {
  mlir::Type scalar = mlir::getElementTypeOrSelf(like);
  mlir::TypedAttr attribute = mlir::isa<mlir::FloatType>(scalar)
                                  ? mlir::TypedAttr(mlir::FloatAttr::get(scalar, value))
                                  : mlir::IntegerAttr::get(scalar, int64_t(value));
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(like))
    attribute = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
  return b.create<mlir::arith::ConstantOp>(attribute);
}

inline mlir::Value compareInt(mlir::ImplicitLocOpBuilder &b, mlir::arith::CmpIPredicate p,
                              mlir::Value a, mlir::Value c) {
  return b.create<mlir::arith::CmpIOp>(p, a, c);
}
inline mlir::Value compareFloat(mlir::ImplicitLocOpBuilder &b, mlir::arith::CmpFPredicate p,
                                mlir::Value a, mlir::Value c) {
  return b.create<mlir::arith::CmpFOp>(p, a, c);
}
inline mlir::Value select(mlir::ImplicitLocOpBuilder &b, mlir::Value c, mlir::Value yes,
                          mlir::Value no) {
  return b.create<mlir::arith::SelectOp>(c, yes, no);
}

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

#endif // WEFT_DIALECTS_WEFT_CODE_EMIT_H
