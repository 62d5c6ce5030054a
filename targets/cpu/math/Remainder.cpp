//===- Remainder.cpp - Exact remainder of a division, C's fmod --------------------------------===//

#include "targets/cpu/math/Functions.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- f32 ------------------------------------------------------------------------------------===//

/// One step of long division in f64 lanes: subtracts from r the multiple of b*2^k that takes off up
/// to 29 bits of the quotient. With b of 24 bits the product is exact, and so is the rest, which is
/// a multiple of the last place of b*2^k below b*2^k.
static Real reduceOnce(Real r, Real b) {
  Real quotient = r / b;
  // 2^k scales the quotient to 29 bits; 1 if it is smaller.
  Int exponent = shiftRight(bits(quotient), 52);
  Int limit = constant(exponent, 1023 + 28);
  Int surplus = select(limit < exponent, exponent - limit, constant(exponent, 0));
  Real scale = fromBits(shiftLeft(surplus + 1023, 52));
  Real inverse = fromBits(shiftLeft(constant(surplus, 1023) - surplus, 52));
  Real divisor = b * scale;
  Real rest = r - trunc(quotient * inverse) * divisor;
  // The rounded quotient may have reached the next integer.
  return select(rest < 0.0, rest + divisor, rest);
}

/// |a| mod |b| for finite a and b != 0.
static Real remainderSingle(Real a, Real b) {
  Real divisor = widen(b);
  auto wrap = [&](mlir::Value value) { return Real{{a.emitter, value}}; };
  auto state = whileAnyLane(
      *a.emitter, widen(a).value, [&](mlir::ValueRange s) { return wrap(s[0]) >= divisor; },
      [&](mlir::ValueRange s) {
        Real r = wrap(s[0]);
        return llvm::SmallVector<mlir::Value>{
            select(r >= divisor, reduceOnce(r, divisor), r).value};
      });
  return narrow(wrap(state[0]));
}

//===- f64 ------------------------------------------------------------------------------------===//

/// Significand and exponent field, such that x = mantissa * 2^(exponent - 1075); the exponent of
/// denormals is 1.
struct IntegerParts {
  Int mantissa, exponent;
};
static IntegerParts integerParts(Real x) {
  Int encoded = bits(x);
  Int field = shiftRight(encoded, 52), fraction = encoded & ((int64_t(1) << 52) - 1);
  Mask denormal = field == 0;
  return {select(denormal, fraction, fraction | (int64_t(1) << 52)),
          select(denormal, constant(field, 1), field)};
}

/// |a| mod |b| for finite a and b != 0, by schoolbook division of integers, 11 bits at a time.
static Real remainderDouble(Real a, Real b) {
  IntegerParts x = integerParts(a), y = integerParts(b);
  Mask smaller = x.exponent < y.exponent;
  Int zero = constant(x.exponent, 0), eleven = constant(x.exponent, 11);
  Int distance = select(smaller, zero, x.exponent - y.exponent);
  auto wrap = [&](mlir::Value value) { return Int{{a.emitter, value}}; };
  auto state = whileAnyLane(
      *a.emitter, {remainder(x.mantissa, y.mantissa).value, distance.value},
      [&](mlir::ValueRange s) { return zero < wrap(s[1]); },
      [&](mlir::ValueRange s) {
        Int rest = wrap(s[0]), left = wrap(s[1]);
        Int step = select(left < eleven, left, eleven);
        return llvm::SmallVector<mlir::Value>{remainder(shiftLeft(rest, step), y.mantissa).value,
                                              (left - step).value};
      });
  Int power = y.exponent - 1075;
  Real result = scaleByPowerOfTwo(toDouble(wrap(state[0])), toReal(power), power + 2 * a.bias());
  return select(smaller, a, result);
}

//===- Both -----------------------------------------------------------------------------------===//

Real expandRemainder(Real a, Real b) {
  Real dividend = abs(a), divisor = abs(b);
  // Lanes without an answer work on 0 mod 1.
  Mask valid = (dividend < infinity) & (divisor > 0.0);
  Mask whole = divisor == infinity;
  dividend = select(valid, dividend, 0.0);
  divisor = select(valid & !whole, divisor, 1.0);
  Real result =
      a.isDouble() ? remainderDouble(dividend, divisor) : remainderSingle(dividend, divisor);
  result = select(whole, dividend, result);
  result = select(valid, copySign(result, a), std::numeric_limits<double>::quiet_NaN());
  return select(isNan(b), b, result);
}

} // namespace weft::lanes
