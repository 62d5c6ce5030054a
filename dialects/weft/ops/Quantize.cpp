//===- Quantize.cpp - quantize, restore ------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/ops/Rounding.h"
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

/// x / y for a y that many elements share: its reciprocal is computed once, and the remainder makes the quotient exact. Where it
/// overflows, the result is infinite or nan with a sign that makes clamping (least first) right: an infinite quotient has no remainder,
/// so positive ones are made finite before, while nan becomes the least value as negative ones do.
Value divideByShared(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value reciprocal = b.create<arith::DivFOp>(number(b, y.getType(), 1), y);
  Value near = b.create<arith::MulFOp>(x, reciprocal), most = number(b, x.getType(), 1 << 30);
  near = b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, near, most),
                                   near, most);
  Value rest = b.create<math::FmaOp>(b.create<arith::NegFOp>(near), y, x);
  return b.create<math::FmaOp>(rest, reciprocal, near);
}

bool isOne(Value value) {
  auto fill = value.getDefiningOp<FillOp>();
  auto number = fill ? dyn_cast<FloatAttr>(fill.getValue()) : FloatAttr();
  return number && number.getValueAsDouble() == 1;
}

/// The large number whose last place is 1: what is added to it is rounded to the nearest even integer, which lies in the sum's low bits.
constexpr float kOnes = 12582912; // 1.5 * 2^23, whose low 16 bits are 0

/// The quotient that is rounded to the integer that stands for x, without its zero point: clamped, so that it has at most 16 bits.
Value clampedQuotient(ImplicitLocOpBuilder &b, Value x, Value scale, bool divides, Value zero,
                      Type element) {
  Value value = divides ? divideByShared(b, x, scale) : x;
  auto [least, most] = rangeOf(element);
  Value low = b.create<arith::SubFOp>(number(b, value.getType(), least), zero);
  Value high = b.create<arith::SubFOp>(number(b, value.getType(), most), zero);
  // A select, not maximumf: one instruction, and a nan becomes the least value.
  value = b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, value, low),
                                    value, low);
  // `high` is not negative, so its bits and those of `value` are in the order of signed integers. Processors compare integers in more of
  // their pipes, and these two steps follow every sum of bytes.
  Type bits = lanesLike(value, b.getI32Type());
  Value smaller = b.create<arith::MinSIOp>(b.create<arith::BitcastOp>(bits, value),
                                           b.create<arith::BitcastOp>(bits, high));
  value = b.create<arith::BitcastOp>(value.getType(), smaller);
  return value;
}

/// The integer that stands for x, as a real.
double quantized(double x, double scale, double zero, Type element) {
  auto [low, high] = rangeOf(element);
  double value = std::nearbyint(x / scale) + zero;
  return std::isnan(value) ? low : std::min(std::max(value, low), high);
}

bool isSymbolic(ArrayRef<Scalar> e) {
  return llvm::any_of(e, [](const Scalar &s) { return s.kind == Scalar::Symbolic; });
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
    return element &&
           !isa<DequantizeOp, RoundBlocksOp>(user) && // the latter reads its blocks often
           (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::Row);
  });
  return readOnce ? RootKind::View : RootKind::Loop;
}

LogicalResult FakeQuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type zero = elementOf(adaptor.getZero());
  if (!elementOf(adaptor.getInput()).isF32() || !elementOf(adaptor.getScale()).isF32() ||
      !elementOf(adaptor.getStep()).isF32() || !isInteger(zero) || elementBits(zero) > 16) // R1
    return emitOptionalError(location, "'weft.fake_quantize' rounds f32 with scales and steps of "
                                       "f32 and zero points of at most 16 bits");
  auto dims = inferDims("..., ..., ..., ... -> ...", adaptor.getOperands().getTypes(), location,
                        "fake_quantize"); // R2
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, elementOf(adaptor.getInput())));
  return success();
}

Scalar QuantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
    return Scalar::of(SymExpr());
  return Scalar::of(
      int64_t(quantized(e[0].asReal(), e[1].asReal(), e[2].asReal(), elementOf(getResult()))));
}

Value QuantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getResult()), narrow = lanesLike(e[0], computeType(element));
  Value quotient =
      clampedQuotient(b, e[0], e[1], !isOne(getScale()), toReal(b, e[2], element), element);
  Value shifted = b.create<arith::AddFOp>(quotient, number(b, quotient.getType(), kOnes));
  Value bits = b.create<arith::BitcastOp>(lanesLike(e[0], b.getI32Type()), shifted);
  return b.create<arith::AddIOp>(b.create<arith::TruncIOp>(narrow, bits), e[2]);
}

Scalar FakeQuantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
    return Scalar::of(SymExpr());
  double zero = e[2].asReal();
  return Scalar::of((quantized(e[0].asReal(), e[1].asReal(), zero, elementOf(getZero())) - zero) *
                    e[3].asReal());
}

Value FakeQuantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getZero());
  Value quotient =
      clampedQuotient(b, e[0], e[1], !isOne(getScale()), toReal(b, e[2], element), element);
  Value whole = b.create<math::RoundEvenOp>(quotient);
  return isOne(getStep()) ? whole : b.create<arith::MulFOp>(whole, e[3]);
}

Scalar DequantizeOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  if (isSymbolic(e))
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
