//===- Power.cpp - powf, fpowi, ipowi, cbrt, rsqrt ----------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- Powers of f32, computed in f64 ---------------------------------------------------------===//

/// log2 of non-negative f64 lanes that were f32, to about 2^-50.
static Real log2Wide(Real x) {
  Int encoded = bits(x);
  Int exponent = exponentAbove(encoded, std::sqrt(0.5));
  Real mantissa = fromBits(encoded - shiftLeft(exponent, x.mantissaBits()));
  Real s = (mantissa - 1.0) / (mantissa + 1.0);
  Real square = s * s;
  Real tail = (s * square) * horner(square, fit::powLog2);
  Real result = toReal(exponent) + mulAdd(s, 2.8853900817779268, tail);
  result = select(x == 0.0, -infinity, result);
  return select(x == infinity, infinity, result);
}

/// 2^x rounded to f32.
static Real exp2Wide(Real x) {
  Real clamped = atMost(atLeast(x, -160.0), 130.0);
  Rounded rounded = roundToInt(clamped, 1.0, x.bias());
  Real p = mulAdd(horner(clamped - rounded.n, fit::powExp2), clamped - rounded.n, 1.0);
  return narrow(p * fromBits(shiftLeft(rounded.raw, x.mantissaBits())));
}

/// |base|^exponent; 1 for |base| = 1 even with an infinite exponent.
static Real powMagnitude(Real magnitude, Real exponent) {
  Real wide = widen(magnitude);
  Real product = exponent * log2Wide(wide);
  return exp2Wide(select(wide == 1.0, 0.0, product));
}

Real expandPow(Real base, Real exponent) {
  Real magnitude = abs(base);
  Real result = powMagnitude(magnitude, widen(exponent));
  Mask integral = trunc(exponent) == exponent;
  Real half = exponent * 0.5;
  Mask odd = integral & !(trunc(half) == half);
  result = select(isNegative(base) & odd, -result, result);
  result = select((base < 0.0) & (magnitude < infinity) & !integral, nan, result);
  result = select(unordered(base, exponent), base + exponent, result);
  return select((exponent == 0.0) | (base == 1.0), 1.0, result);
}

Real expandPow(Real base, Int exponent) {
  Real result = powMagnitude(abs(base), toDouble(exponent));
  result = select(isNegative(base) & !((exponent & 1) == 0), -result, result);
  result = select(isNan(base), base, result);
  return select(exponent == 0, 1.0, result);
}

//===- Integer powers -------------------------------------------------------------------------===//

Int expandPow(Int base, Int exponent) {
  Mask negative = exponent < constant(exponent, 0);
  Int remaining = select(negative, exponent & 1, exponent);
  auto wrap = [&](mlir::Value value) { return Int{{base.emitter, value}}; };
  // Square and multiply until no lane has bits of its exponent left.
  auto state = whileAnyLane(
      *base.emitter, {constant(base, 1).value, base.value, remaining.value},
      [&](mlir::ValueRange s) { return !(wrap(s[2]) == 0); },
      [&](mlir::ValueRange s) {
        Int result = wrap(s[0]), square = wrap(s[1]), left = wrap(s[2]);
        Int next = select((left & 1) == 0, result, result * square);
        return llvm::SmallVector<mlir::Value>{next.value, (square * square).value,
                                              shiftRight(left, 1).value};
      });
  Mask vanishes = negative & !((base == 1) | (base == -1));
  return select(vanishes, constant(base, 0), wrap(state[0]));
}

//===- Roots ----------------------------------------------------------------------------------===//

/// Cube root of positive f64 lanes in the normal range: a third of the exponent's bits is right to
/// 5 %, and each step of Halley's method triples the digits.
static Real cbrtMagnitude(Real x, int steps) {
  Int high = truncate(shiftRight(bits(x), 32), 32);
  // high / 3 by multiplication; the offset restores two thirds of the exponent bias.
  Int third = truncate(shiftRight(extendZero(high, 64) * 0x55555556, 32), 32) + 0x2a9f7893;
  Real root = fromBits(shiftLeft(extendZero(third, 64), 32));
  for (int i = 0; i < steps; ++i) {
    Real cube = root * root * root;
    root = root * ((cube + (x + x)) / ((cube + cube) + x));
  }
  return root;
}

Real expandCbrt(Real x) {
  Real wide = abs(widen(x));
  Real root = copySign(narrow(cbrtMagnitude(wide, 2)), x);
  return select((x == 0.0) | !(abs(x) < infinity), x, root);
}

Real expandRsqrt(Real x) { return 1.0 / sqrt(x); }

} // namespace weft::lanes
