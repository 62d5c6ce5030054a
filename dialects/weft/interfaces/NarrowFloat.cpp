//===- NarrowFloat.cpp - Floats below 32 bits and their bits -------------------------------------===//
//
// f16 and bf16 have instructions; 8-bit floats are taken apart with integers, which is exact and does not depend on how the processor
// treats small numbers.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Element.h"
#include "dialects/weft/Reference.h"
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

struct Format {
  unsigned mantissa, bias;
  unsigned largest, overflow; ///< bits of the largest finite number, and of what lies above
  unsigned nan = 0x7f;
  bool singleZero = false; ///< what would be -0 is nan
};

Format formatOf(Type element) {
  if (element.isFloat8E4M3FN())
    return {3, 7, 0x7e, 0x7f};
  if (element.isFloat8E4M3FNUZ())
    return {3, 8, 0x7f, 0x80, 0x80, true};
  if (element.isFloat8E5M2FNUZ())
    return {2, 16, 0x7f, 0x80, 0x80, true};
  return {2, 15, 0x7b, 0x7c};
}

/// The fields in those of an f32; below the smallest normal number a product, which an f32 has.
Value decodeSingleZero(ImplicitLocOpBuilder &b, Format format, Value bits) {
  Bits o(b, bits);
  Value wide = o.zext(bits, 32), rest = o.bitAnd(wide, 0x7f);
  Value normal =
      o.as(o.add(o.shl(rest, 23 - format.mantissa), o.number(32, (127 - format.bias) << 23)),
           b.getF32Type());
  Value small =
      b.create<arith::MulFOp>(b.create<arith::UIToFPOp>(o.type(b.getF32Type()), rest),
                              o.real(std::ldexp(1.0, 1 - int(format.bias) - int(format.mantissa))));
  Value magnitude = o.select(o.above(rest, (1u << format.mantissa) - 1), normal, small);
  Value sign = o.shl(o.bitAnd(wide, 0x80), 24);
  Value value = o.as(o.bitOr(o.as(magnitude, b.getI32Type()), sign), b.getF32Type());
  Value isNan = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, wide, o.number(32, format.nan));
  return o.select(isNan, o.real(std::nan("")), value);
}

Value decode8(ImplicitLocOpBuilder &b, Type element, Value bits) {
  if (Format format = formatOf(element); format.singleZero)
    return decodeSingleZero(b, format, bits);
  Bits o(b, bits);
  Value wide = o.zext(bits, 16);
  if (!element.isFloat8E4M3FN()) // the upper half of an f16
    return b.create<arith::ExtFOp>(o.type(b.getF32Type()), o.as(o.shl(wide, 8), b.getF16Type()));
  // As an f16 with the same fields its exponent is too small by 8.
  Value sign = o.shl(o.bitAnd(wide, 0x80), 8), rest = o.bitAnd(wide, 0x7f);
  Value half = o.as(o.bitOr(sign, o.shl(rest, 7)), b.getF16Type());
  Value value =
      b.create<arith::MulFOp>(b.create<arith::ExtFOp>(o.type(b.getF32Type()), half), o.real(256));
  return o.select(o.above(rest, 0x7e), o.real(std::nan("")), value);
}

/// Rounds to nearest even; above the largest number comes infinity, or nan where there is none.
Value encode8(ImplicitLocOpBuilder &b, Type element, Value value) {
  Bits o(b, value);
  Format format = formatOf(element);
  Value bits = o.as(value, b.getI32Type()), magnitude = o.bitAnd(bits, 0x7fffffff);
  unsigned dropped = 23 - format.mantissa;
  Value even = o.bitAnd(o.shr(magnitude, dropped), 1);
  Value rounded =
      o.shr(o.add(o.add(magnitude, o.number(32, (1u << (dropped - 1)) - 1)), even), dropped);
  Value normal = o.sub(rounded, o.number(32, (127 - format.bias) << format.mantissa));
  // Below the smallest normal number: the sum with a number whose last place is the smallest step.
  double step = std::ldexp(1.0, 1 - int(format.bias) - int(format.mantissa)),
         magic = std::ldexp(step, 23);
  Value sum = b.create<arith::AddFOp>(o.as(magnitude, b.getF32Type()), o.real(magic));
  Value small = o.sub(o.as(sum, b.getI32Type()), o.as(o.real(magic), b.getI32Type()));
  uint32_t leastNormal = (127 - format.bias + 1) << 23;
  Value result = o.select(o.above(magnitude, leastNormal - 1), normal, small);
  result = o.select(o.above(result, format.largest), o.number(32, format.overflow), result);
  result = o.select(o.above(magnitude, 0x7f800000), o.number(32, format.nan), result);
  Value sign = o.shr(o.bitAnd(bits, 0x80000000), 24);
  if (format.singleZero)
    sign = o.select(o.above(result, 0), sign, o.number(32, 0));
  return o.trunc(o.bitOr(result, sign), 8);
}

} // namespace

Value decodeFloat(ImplicitLocOpBuilder &b, Type element, Value bits) {
  if (elementBits(element) == 8)
    return decode8(b, element, bits);
  Bits o(b, bits);
  return b.create<arith::ExtFOp>(o.type(b.getF32Type()), o.as(bits, element));
}

Value encodeFloat(ImplicitLocOpBuilder &b, Type element, Value value) {
  if (elementBits(element) == 8)
    return encode8(b, element, value);
  Bits o(b, value);
  Value narrow = b.create<arith::TruncFOp>(o.type(element), value);
  return o.as(narrow, b.getIntegerType(elementBits(element)));
}

} // namespace weft
