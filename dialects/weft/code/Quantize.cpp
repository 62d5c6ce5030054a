//===- Quantize.cpp - Code of quantize, dequantize, fake_quantize, look_up ------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {
namespace {

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
  auto [least, most] = integerRange(element);
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

} // namespace

Value QuantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getResult()), narrow = lanesLike(e[0], computeType(element));
  Value quotient =
      clampedQuotient(b, e[0], e[1], !isOne(getScale()), toReal(b, e[2], element), element);
  Value shifted = b.create<arith::AddFOp>(quotient, number(b, quotient.getType(), kOnes));
  Value bits = b.create<arith::BitcastOp>(lanesLike(e[0], b.getI32Type()), shifted);
  return b.create<arith::AddIOp>(b.create<arith::TruncIOp>(narrow, bits), e[2]);
}

Value FakeQuantizeOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Type element = elementOf(getZero());
  Value quotient =
      clampedQuotient(b, e[0], e[1], !isOne(getScale()), toReal(b, e[2], element), element);
  Value whole = b.create<math::RoundEvenOp>(quotient);
  return isOne(getStep()) ? whole : b.create<arith::MulFOp>(whole, e[3]);
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

Value LookUpOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  return e.lookUp(1, e.operand(0, index));
}

} // namespace weft
