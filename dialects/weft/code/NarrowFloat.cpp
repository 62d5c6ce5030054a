//===- NarrowFloat.cpp - Floats below 32 bits and their bits ----------------------------------===//
//
// f16 and bf16 have instructions; floats of at most 8 bits are taken apart with integers, which is
// exact and does not depend on how the processor treats small numbers.
//
//   bits to f32: of powers of two, the exponent field                         [decode power]
//     fields that an f16 has: moved there, converted, times 2^(15 - bias)     [decode half]
//     others: moved to those of an f32; small ones: rest * least step         [decode fields]
//   f32 to bits: of powers of two, fields + 1/2, cut off                      [encode power]
//     others: the magnitude's fields cut off, rounded to nearest even         [encode fields]
//       small ones: the sum with a number whose last place is the least step  [small]
//       overflow and nan where the format has them; the sign                  [special]
//   16 bits: the processor's conversion                                       [halves]
//     to the type that a value was decoded from: its bits                     [as it was]
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/interfaces/Element.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

/// Operations on numbers or vectors that are shaped like a given value.
class Bits {
public:
  Bits(ImplicitLocOpBuilder &b, Value like) : b(b), shape(dyn_cast<VectorType>(like.getType())) {}
  ImplicitLocOpBuilder &builder() { return b; }

  Type type(Type scalar) { return shape ? Type(shape.clone(scalar)) : scalar; }
  Value number(unsigned width, uint64_t value) {
    return constant(IntegerAttr::get(b.getIntegerType(width), int64_t(value)));
  }
  Value real(double value) { return constant(b.getF32FloatAttr(value)); }
  Value zext(Value x, unsigned width) {
    return b.create<arith::ExtUIOp>(type(b.getIntegerType(width)), x);
  }
  Value trunc(Value x, unsigned width) {
    return b.create<arith::TruncIOp>(type(b.getIntegerType(width)), x);
  }
  Value as(Value x, Type scalar) { return b.create<arith::BitcastOp>(type(scalar), x); }
  Value shl(Value x, unsigned by) { return b.create<arith::ShLIOp>(x, number(width(x), by)); }
  Value shr(Value x, unsigned by) { return b.create<arith::ShRUIOp>(x, number(width(x), by)); }
  Value bitAnd(Value x, uint64_t mask) {
    return b.create<arith::AndIOp>(x, number(width(x), mask));
  }
  Value bitOr(Value x, Value y) { return b.create<arith::OrIOp>(x, y); }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubIOp>(x, y); }
  Value above(Value x, uint64_t limit) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, x, number(width(x), limit));
  }
  Value equal(Value x, uint64_t number) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, x, this->number(width(x), number));
  }
  Value select(Value c, Value x, Value y) { return b.create<arith::SelectOp>(c, x, y); }

private:
  static unsigned width(Value x) {
    return getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  }
  Value constant(TypedAttr value) {
    if (shape)
      value =
          DenseElementsAttr::get(cast<ShapedType>(shape.clone(value.getType())), Attribute(value));
    return b.create<arith::ConstantOp>(value);
  }
  ImplicitLocOpBuilder &b;
  VectorType shape;
};

/// Whether an f16 with the same fields holds every number but for a factor.
bool fitsHalf(const FloatFormat &format) {
  return !format.isPowers() && format.mantissaBits <= 10 &&
         (format.exponentBits < 5 || format.specials == FloatFormat::InfinityAndNan);
}

/// [decode half] Numbers below the normal ones are f16 just as well.
Value decodeFromHalf(Bits &o, const FloatFormat &format, Value bits) {
  ImplicitLocOpBuilder &b = o.builder();
  Value wide = o.zext(bits, 16), rest = o.bitAnd(wide, format.magnitudes());
  Value sign = o.shl(o.bitAnd(wide, format.sign()), 16 - format.bits());
  Value half = o.as(o.bitOr(sign, o.shl(rest, 10 - format.mantissaBits)), b.getF16Type());
  Value value = b.create<arith::ExtFOp>(o.type(b.getF32Type()), half);
  if (format.bias != 15)
    value = b.create<arith::MulFOp>(value, o.real(std::ldexp(1.0, 15 - format.bias)));
  if (format.specials == FloatFormat::LastIsNan)
    return o.select(o.above(rest, format.largest()), o.real(std::nan("")), value);
  if (format.specials == FloatFormat::NanForMinusZero)
    return o.select(o.equal(wide, format.nan()), o.real(std::nan("")), value);
  return value;
}

/// [decode fields] The fields in those of an f32; below the smallest normal number a product, which
/// an f32 has.
Value decodeFields(Bits &o, const FloatFormat &format, Value bits) {
  ImplicitLocOpBuilder &b = o.builder();
  unsigned mantissa = format.mantissaBits;
  Value wide = o.zext(bits, 32), rest = o.bitAnd(wide, format.magnitudes());
  Value normal = o.as(o.add(o.shl(rest, 23 - mantissa), o.number(32, (127 - format.bias) << 23)),
                      b.getF32Type());
  Value small = b.create<arith::MulFOp>(b.create<arith::UIToFPOp>(o.type(b.getF32Type()), rest),
                                        o.real(std::ldexp(1.0, 1 - format.bias - int(mantissa))));
  Value magnitude = o.select(o.above(rest, (1u << mantissa) - 1), normal, small);
  Value sign = o.shl(o.bitAnd(wide, format.sign()), 32 - format.bits());
  Value value = o.as(o.bitOr(o.as(magnitude, b.getI32Type()), sign), b.getF32Type());
  return o.select(o.equal(wide, format.nan()), o.real(std::nan("")), value);
}

/// [decode power] The exponent of an f32 with the same bias, whose field 0 stands for numbers below
/// the normal ones.
Value decodePower(Bits &o, const FloatFormat &format, Value bits) {
  Value wide = o.zext(bits, 32);
  Value fields = o.select(o.above(wide, 0), o.shl(wide, 23), o.number(32, 1 << 22));
  fields = o.select(o.equal(wide, format.nan()), o.number(32, 0x7fc00000), fields);
  return o.as(fields, o.builder().getF32Type());
}

Value decodeSmall(ImplicitLocOpBuilder &b, const FloatFormat &format, Value bits) {
  Bits o(b, bits);
  if (format.isPowers())
    return decodePower(o, format, bits);
  return fitsHalf(format) ? decodeFromHalf(o, format, bits) : decodeFields(o, format, bits);
}

/// `fields` without its lowest bits, rounded to nearest even, as the integer that is left.
Value dropRounded(Bits &o, Value fields, unsigned dropped) {
  Value even = o.bitAnd(o.shr(fields, dropped), 1);
  Value half = o.number(32, (1u << (dropped - 1)) - 1);
  return o.shr(o.add(o.add(fields, half), even), dropped);
}

/// [encode fields] Rounding may carry into the exponent, as it shall.
Value encodeFields(Bits &o, const FloatFormat &format, Value bits) {
  ImplicitLocOpBuilder &b = o.builder();
  unsigned mantissa = format.mantissaBits;
  Value magnitude = o.bitAnd(bits, 0x7fffffff);
  Value normal = o.sub(dropRounded(o, magnitude, 23 - mantissa),
                       o.number(32, (127 - format.bias) << mantissa));
  // [small] Below the smallest normal number: the sum with a number whose last place is the
  // smallest step.
  double magic = std::ldexp(1.0, 23 + 1 - format.bias - int(mantissa));
  Value sum = b.create<arith::AddFOp>(o.as(magnitude, b.getF32Type()), o.real(magic));
  Value small = o.sub(o.as(sum, b.getI32Type()), o.as(o.real(magic), b.getI32Type()));
  uint32_t leastNormal = (127 - format.bias + 1) << 23;
  Value result = o.select(o.above(magnitude, leastNormal - 1), normal, small);
  // [special] In this order: nan is above infinity.
  result = o.select(o.above(result, format.largest()), o.number(32, format.overflow()), result);
  result = o.select(o.above(magnitude, 0x7f800000), o.number(32, format.nan()), result);
  Value sign = o.shr(o.bitAnd(bits, 0x80000000), 32 - format.bits());
  if (format.specials == FloatFormat::NanForMinusZero)
    sign = o.select(o.above(result, 0), sign, o.number(32, 0));
  return o.bitOr(result, sign);
}

/// [encode power] The lowest powers are those numbers of an f32 that have no leading 1: doubling
/// the fields gives them one.
Value encodePower(Bits &o, const FloatFormat &format, Value bits) {
  Value low = o.sub(o.shl(bits, 1), o.number(32, 1 << 23));
  Value fields = o.select(o.above(bits, (1 << 23) - 1), bits, low);
  Value power = o.shr(o.add(fields, o.number(32, 1 << 22)), 23); // ties go up
  Value outside = o.above(o.sub(bits, o.number(32, 1 << 22)), 0x7f7fffff - (1 << 22));
  return o.select(outside, o.number(32, format.nan()), power);
}

Value encodeSmall(ImplicitLocOpBuilder &b, const FloatFormat &format, Value value) {
  Bits o(b, value);
  Value bits = o.as(value, b.getI32Type());
  return o.trunc(format.isPowers() ? encodePower(o, format, bits) : encodeFields(o, format, bits),
                 format.bits());
}

} // namespace

Value decodeFloat(ImplicitLocOpBuilder &b, Type element, Value bits) {
  const FloatFormat *format = floatFormatOf(element);
  if (format->bits() <= 8)
    return decodeSmall(b, *format, bits);
  // [halves] To f32 here, and back below.
  Bits o(b, bits);
  return b.create<arith::ExtFOp>(o.type(b.getF32Type()), o.as(bits, element));
}

Value encodeFloat(ImplicitLocOpBuilder &b, Type element, Value value) {
  const FloatFormat *format = floatFormatOf(element);
  if (format->bits() <= 8)
    return encodeSmall(b, *format, value);
  // [as it was] A value that was just decoded, which conversions do that are stored, has its bits.
  Bits o(b, value);
  auto decoded = value.getDefiningOp<arith::ExtFOp>();
  bool isExact = decoded && decoded.getIn().getType() == o.type(element);
  Value narrow = isExact ? decoded.getIn() : b.create<arith::TruncFOp>(o.type(element), value);
  return o.as(narrow, b.getIntegerType(format->bits()));
}

} // namespace weft
