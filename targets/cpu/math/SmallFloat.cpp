//===- SmallFloat.cpp - f16 and bf16 to and from f32 ------------------------------------------===//
//
// LLVM calls compiler-rt for roundings to bf16 on most processors, and for f16 before F16C. Integer
// operations need no library and round the same everywhere, denormals included.
//
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Functions.h"

#include "mlir/IR/BuiltinTypes.h"

namespace weft::lanes {

static Real bf16ToSingle(Real x) { return fromBits(shiftLeft(extendZero(bits(x), 32), 16)); }

static Real singleToBf16(Real x, mlir::Type element) {
  Int encoded = bits(x);
  // Adding just below half a unit, or half for an odd result, carries where rounding goes up. What
  // is chosen costs less than what is computed, and one choice less a shift.
  Mask even = (encoded & 0x10000) == 0;
  Int rounded = encoded + select(even, constant(encoded, 0x7fff), constant(encoded, 0x8000));
  Int quietNan = encoded | 0x400000;
  return fromBits(upperHalves(select(isNan(x), quietNan, rounded)), element);
}

static Real f16ToSingle(Real x) {
  Int encoded = extendSign(bits(x), 32);
  // Moves the fields into place, where the sign is repeated between them, and multiplies by 2^112,
  // which also normalises denormals.
  Int fields = shiftLeft(encoded, 13) & int32_t(0x8fffe000u);
  Real scaled = fromBits(fields) * 0x1p112;
  Mask special = (encoded & 0x7c00) == 0x7c00;
  Int exponent = select(special, constant(encoded, 0x7f800000), constant(encoded, 0));
  return fromBits(bits(scaled) | exponent);
}

static Real singleToF16(Real x, mlir::Type element) {
  Int encoded = bits(x);
  Int sign = shiftRight(encoded, 16) & 0x8000;
  // What is larger than all numbers becomes 2^16, whose bits below are those of infinity.
  Real magnitude = atMost(abs(x), 0x1p16);
  // Adding 2^(e+13), where 2^e is x's exponent or the smallest normal one, rounds to 10 bits after
  // the point.
  Int exponent = bits(atLeast(magnitude, 0x1p-14)) & 0x7f800000;
  Real grid = fromBits(exponent + (int64_t(13) << 23));
  Real rounded = (magnitude + grid) - grid;
  Int half = shiftRight(bits(rounded * 0x1p-112), 13);
  Int quietNan = (shiftRight(encoded, 13) & 0x3ff) | 0x7e00;
  half = select(isNan(x), quietNan, half);
  return fromBits(truncate(half | sign, 16), element);
}

Real widenSmall(Real x) {
  if (x.elementType().isBF16())
    return bf16ToSingle(x);
  if (!x.emitter->machine.hasHalves())
    return f16ToSingle(x);
  return extendTo(x, x.builder().getF32Type());
}

/// f64 to f32 such that a second rounding cannot go wrong: an inexact result gets an odd last bit.
static Real narrowToOdd(Real x) {
  Real rounded = narrow(x);
  Real back = widen(rounded);
  Int encoded = bits(rounded);
  // Truncates towards zero, then marks inexactness.
  Mask away = abs(back) > abs(x);
  Int truncated = select(away, encoded - 1, encoded);
  return fromBits(select((back == x) | isNan(x), encoded, truncated | 1));
}

Real narrowSmall(Real x, mlir::Type element) {
  if (x.isDouble())
    x = narrowToOdd(x);
  if (element.isBF16())
    return singleToBf16(x, element);
  return x.emitter->machine.hasHalves() ? roundTo(x, element) : singleToF16(x, element);
}

} // namespace weft::lanes
