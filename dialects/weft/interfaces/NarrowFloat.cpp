//===- NarrowFloat.cpp - Bits of narrow floats from f32 and back --------------------------------===//

#include "dialects/weft/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

using Builder = ImplicitLocOpBuilder;

/// A float of 8 bits: a sign, an exponent with a bias, and a fraction.
struct Format {
  unsigned fraction;
  int bias;
  int largest, beyond, nan; ///< bits without sign
};

Format formatOf(Type element) {
  if (element.isFloat8E4M3FN())
    return {3, 7, 0x7e, 0x7f, 0x7f};
  return {2, 15, 0x7b, 0x7c, 0x7e};
}

Type lanesOf(Value like, Type scalar) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(scalar)) : scalar;
}

Value constant(Builder &b, Value like, TypedAttr value) {
  Type type = lanesOf(like, value.getType());
  if (auto vector = dyn_cast<VectorType>(type))
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(vector, Attribute(value)));
  return b.create<arith::ConstantOp>(value);
}
Value integer(Builder &b, Value like, int64_t value) { return constant(b, like, b.getI32IntegerAttr(int32_t(value))); }
Value real(Builder &b, Value like, double value) { return constant(b, like, b.getF32FloatAttr(float(value))); }

Value asInteger(Builder &b, Value x) { return b.create<arith::BitcastOp>(lanesOf(x, b.getI32Type()), x); }
Value asReal(Builder &b, Value x) { return b.create<arith::BitcastOp>(lanesOf(x, b.getF32Type()), x); }

/// Rounds the fraction by adding half of what is cut off, less one where the rest is even, and moves the exponent. Below the
/// smallest normal number a float addition rounds to multiples of the smallest number.
Value encodeFloat8(Builder &b, Value x, const Format &f) {
  Value bits = asInteger(b, x), magnitude = b.create<arith::AndIOp>(bits, integer(b, bits, 0x7fffffff));
  unsigned cut = 23 - f.fraction;
  Value last = b.create<arith::ShRUIOp>(magnitude, integer(b, bits, cut));
  Value odd = b.create<arith::AndIOp>(last, integer(b, bits, 1));
  Value half = b.create<arith::AddIOp>(odd, integer(b, bits, (int64_t(1) << (cut - 1)) - 1));
  Value rounded = b.create<arith::ShRUIOp>(b.create<arith::AddIOp>(magnitude, half), integer(b, bits, cut));
  Value normal = b.create<arith::SubIOp>(rounded, integer(b, bits, int64_t(127 - f.bias) << f.fraction));
  Value step = real(b, x, std::ldexp(1.0, 1 - f.bias - int(f.fraction) + 23));
  Value counted = asInteger(b, b.create<arith::AddFOp>(asReal(b, magnitude), step));
  Value small = b.create<arith::SubIOp>(counted, asInteger(b, step));
  Value isSmall = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, magnitude, integer(b, bits, int64_t(128 - f.bias) << 23));
  Value q = b.create<arith::SelectOp>(isSmall, small, normal);
  Value isBeyond = b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, q, integer(b, bits, f.largest));
  q = b.create<arith::SelectOp>(isBeyond, integer(b, bits, f.beyond), q);
  Value isNan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  q = b.create<arith::SelectOp>(isNan, integer(b, bits, f.nan), q);
  Value sign = b.create<arith::AndIOp>(b.create<arith::ShRUIOp>(bits, integer(b, bits, 24)), integer(b, bits, 0x80));
  return b.create<arith::TruncIOp>(lanesOf(x, b.getI8Type()), b.create<arith::OrIOp>(q, sign));
}

/// Numbers below the smallest normal one are multiples of the smallest number.
Value decodeFloat8(Builder &b, Value bytes, const Format &f) {
  Value bits = b.create<arith::ExtUIOp>(lanesOf(bytes, b.getI32Type()), bytes);
  Value magnitude = b.create<arith::AndIOp>(bits, integer(b, bits, 0x7f));
  Value moved = b.create<arith::ShLIOp>(magnitude, integer(b, bits, 23 - f.fraction));
  Value normal = b.create<arith::AddIOp>(moved, integer(b, bits, int64_t(127 - f.bias) << 23));
  Value count = b.create<arith::UIToFPOp>(lanesOf(bits, b.getF32Type()), magnitude);
  Value small = asInteger(b, b.create<arith::MulFOp>(count, real(b, bits, std::ldexp(1.0, 1 - f.bias - int(f.fraction)))));
  Value isSmall = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, magnitude, integer(b, bits, int64_t(1) << f.fraction));
  Value q = b.create<arith::SelectOp>(isSmall, small, normal);
  if (f.beyond != f.nan) {
    Value isInfinite = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, magnitude, integer(b, bits, f.beyond));
    q = b.create<arith::SelectOp>(isInfinite, integer(b, bits, 0x7f800000), q);
  }
  Value isNan = b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, magnitude, integer(b, bits, f.beyond == f.nan ? f.largest : f.beyond));
  q = b.create<arith::SelectOp>(isNan, integer(b, bits, 0x7fc00000), q);
  Value sign = b.create<arith::ShLIOp>(b.create<arith::AndIOp>(bits, integer(b, bits, 0x80)), integer(b, bits, 24));
  return asReal(b, b.create<arith::OrIOp>(q, sign));
}

} // namespace

Value encodeFloat(Builder &b, Value x, Type element) {
  if (element.getIntOrFloatBitWidth() == 8)
    return encodeFloat8(b, x, formatOf(element));
  Value narrow = b.create<arith::TruncFOp>(lanesOf(x, element), x);
  return b.create<arith::BitcastOp>(lanesOf(x, b.getI16Type()), narrow);
}

Value decodeFloat(Builder &b, Value bits, Type element) {
  if (element.getIntOrFloatBitWidth() == 8)
    return decodeFloat8(b, bits, formatOf(element));
  Value narrow = b.create<arith::BitcastOp>(lanesOf(bits, element), bits);
  return b.create<arith::ExtFOp>(lanesOf(bits, b.getF32Type()), narrow);
}

} // namespace weft
