//===- Quantize.cpp - quantize, restore ------------------------------------------------------===//

#include "dialects/weft/Quantize.h"
#include "dialects/weft/ops/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

bool isInteger(Type element) { return isa<IntegerType>(element) && !element.isInteger(1); }

LogicalResult inferWithElement(StringRef name, std::optional<Location> location,
                               ValueRange operands, Type element, SmallVectorImpl<Type> &results) {
  auto dims = inferDims("..., ..., ... -> ...", operands.getTypes(), location, name); // R2
  if (failed(dims))
    return failure();
  results.push_back(
      SymTensorType::get(element.getContext(),
                         DimsAttr::get(element.getContext(), *dims).getDimAttributes(), element));
  return success();
}

/// Least and largest value of an integer type.
std::pair<double, double> rangeOf(Type element) {
  unsigned bits = elementBits(element);
  return isUnsigned(element) ? std::pair(0.0, std::ldexp(1, bits) - 1)
                             : std::pair(-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1);
}

/// `scalar` shaped as the lanes of `like`.
Type lanesLike(Value like, Type scalar) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(scalar)) : scalar;
}

Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr attribute = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return b.create<arith::ConstantOp>(attribute);
}

/// An integer of `element` as f32.
Value toReal(ImplicitLocOpBuilder &b, Value x, Type element) {
  Type i32 = lanesLike(x, b.getI32Type());
  if (elementBits(element) < 32)
    x = isUnsigned(element) ? Value(b.create<arith::ExtUIOp>(i32, x))
                            : b.create<arith::ExtSIOp>(i32, x);
  Type f32 = lanesLike(x, b.getF32Type());
  bool wideUnsigned = isUnsigned(element) && elementBits(element) >= 32;
  return wideUnsigned ? Value(b.create<arith::UIToFPOp>(f32, x))
                      : b.create<arith::SIToFPOp>(f32, x);
}

/// x / y for a y that many elements share: its reciprocal is computed once, and the remainder makes the quotient exact.
Value divideByShared(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value reciprocal = b.create<arith::DivFOp>(number(b, y.getType(), 1), y);
  Value near = b.create<arith::MulFOp>(x, reciprocal);
  Value rest = b.create<math::FmaOp>(b.create<arith::NegFOp>(near), y, x);
  Value exact = b.create<math::FmaOp>(rest, reciprocal, near);
  Value finite = b.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, exact,
                                         exact); // an infinite quotient has no remainder
  return b.create<arith::SelectOp>(finite, exact, near);
}

} // namespace

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type zero = elementOf(adaptor.getZero());
  if (!elementOf(adaptor.getInput()).isF32() || !elementOf(adaptor.getScale()).isF32() ||
      !isInteger(zero) || elementBits(zero) > 16) // R1
    return emitOptionalError(
        location, "'weft.quantize' makes integers of at most 16 bits from f32, but has operands ",
        adaptor.getInput().getType(), ", ", adaptor.getScale().getType(), " and ",
        adaptor.getZero().getType());
  return inferWithElement("quantize", location, adaptor.getOperands(), zero, results);
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type input = elementOf(adaptor.getInput()), scale = elementOf(adaptor.getScale());
  if (!isInteger(input) || input != elementOf(adaptor.getZero()) || !scale.isF32()) // R1
    return emitOptionalError(location,
                             "'weft.dequantize' makes f32 from integers and a zero point of their "
                             "type, but has operands ",
                             adaptor.getInput().getType(), ", ", adaptor.getScale().getType(),
                             " and ", adaptor.getZero().getType());
  return inferWithElement("dequantize", location, adaptor.getOperands(), scale, results);
}

/// Elements that are widened where they are read cost less than a tensor of floats; a contraction or window reads them many times.
RootKind DequantizeOp::rootKind() {
  bool readOnce = llvm::all_of((*this)->getUsers(), [](Operation *user) {
    auto element = dyn_cast<ElementOpInterface>(user);
    return element && !isa<DequantizeOp>(user) &&
           (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::Row);
  });
  return readOnce ? RootKind::View : RootKind::Loop;
}

Scalar QuantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  auto [low, high] = rangeOf(elementOf(getResult()));
  if (e[0].kind == Scalar::Symbolic || e[1].kind == Scalar::Symbolic ||
      e[2].kind == Scalar::Symbolic)
    return Scalar::of(SymExpr());
  double value = std::nearbyint(e[0].asReal() / e[1].asReal()) + e[2].asReal();
  return Scalar::of(int64_t(std::isnan(value) ? low : std::min(std::max(value, low), high)));
}

Value QuantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getResult());
  Value rounded = b.create<math::RoundEvenOp>(divideByShared(b, e[0], e[1]));
  Value value = b.create<arith::AddFOp>(rounded, toReal(b, e[2], element));
  auto [least, most] = rangeOf(element);
  Value low = number(b, value.getType(), least), high = number(b, value.getType(), most);
  // Selects, not maximumf: one instruction each, and a nan becomes the least value.
  value = b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, value, low),
                                    value, low);
  value = b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, high),
                                    value, high);
  Value integer = b.create<arith::FPToSIOp>(lanesLike(value, b.getI32Type()), value);
  return b.create<arith::TruncIOp>(lanesLike(value, computeType(element)), integer);
}

Scalar DequantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (e[0].kind == Scalar::Symbolic || e[1].kind == Scalar::Symbolic ||
      e[2].kind == Scalar::Symbolic)
    return Scalar::of(SymExpr());
  return Scalar::of(double(e[0].integer - e[2].integer) * e[1].asReal());
}

/// Up to 16 bits are exact in f32; wider integers are subtracted first.
Value DequantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getInput());
  bool wide = elementBits(element) > 16;
  Value difference =
      wide ? toReal(b, b.create<arith::SubIOp>(e[0], e[2]), element)
           : b.create<arith::SubFOp>(toReal(b, e[0], element), toReal(b, e[2], element));
  return b.create<arith::MulFOp>(difference, e[1]);
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/QuantizeOps.cpp.inc"
