//===- Power.cpp - powf, fpowi, ipowi, cbrt, rsqrt --------------------------------------------===//
//
//   |x|^y of f32 in f64 = 2^(y * log2 |x|)
//     log2 x = e + s * (2 / ln 2 + s^2 * P(s^2)), s = (m - 1) / (m + 1)  [log2]
//     2^t = 2^n * Q(t - n), n = t rounded                                [exp2]
//   |x|^y of f64, sums and products in two parts
//     log2 m = 2 / ln 2 * (s + s^3 * (1/3 + s^2 * P(s^2)))               [log2 in parts]
//     t = y * (e + log2 m); 2^n * Q(t.high - n + t.low)                  [power in parts]
//   then signs, and what is 1, infinite or no number                     [signs]
//   x^n of integers: while a lane has bits of n left                     [squares]
//     times x where the lowest is set; x = x * x
//   cube root: a third of the exponent, then Halley's steps, all in f64  [halley]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- Powers of f32, computed in f64 ---------------------------------------------------------===//

/// [log2] log2 of non-negative f64 lanes that were f32, to about 2^-50.
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

/// [exp2] 2^x rounded to f32.
static Real exp2Wide(Real x) {
  Real clamped = atMost(atLeast(x, -160.0), 130.0);
  Rounded rounded = roundToInt(clamped, 1.0, x.bias());
  Real p = mulAdd(horner(clamped - rounded.n, fit::powExp2), clamped - rounded.n, 1.0);
  return narrow(p * fromBits(shiftLeft(rounded.raw, x.mantissaBits())));
}

/// |base|^exponent in f32; 1 for |base| = 1 even with an infinite exponent.
static Real powSingle(Real magnitude, Real exponent) {
  Real wide = widen(magnitude);
  Real product = exponent * log2Wide(wide);
  return exp2Wide(select(wide == 1.0, 0.0, product));
}

//===- Powers of f64, with a logarithm in two parts -------------------------------------------===//

static HighLow multiply(HighLow a, HighLow b) {
  HighLow product = twoProduct(a.high, b.high);
  Real cross = a.high * b.low + a.low * b.high;
  return quickTwoSum(product.high, product.low + cross);
}

static HighLow constants(Real like, double high, double low) {
  return {constant(like, high), constant(like, low)};
}

/// [log2 in parts] log2 of m in [sqrt(1/2), sqrt(2)], to about 2^-65 of itself, as 2/ln 2 * (s +
/// s^3 * series(s^2)) with s = (m-1)/(m+1).
static HighLow log2Mantissa(Real m) {
  Real numerator = m - 1.0;
  HighLow denominator = twoSum(m, constant(m, 1.0));
  Real quotient = numerator / denominator.high;
  HighLow back = twoProduct(quotient, denominator.high);
  Real rest = ((numerator - back.high) - back.low) - quotient * denominator.low;
  HighLow s = quickTwoSum(quotient, rest / denominator.high);
  HighLow square = multiply(s, s);
  // series = 1/3 + square * polynomial; only the leading term needs two parts.
  Real tail = square.high * horner(square.high, fit::powSeriesF64);
  HighLow series = twoSum(constant(m, 0x1.5555555555555p-2), tail + 0x1.5555555555555p-56);
  HighLow cubic = multiply(multiply(s, square), series);
  HighLow sum = twoSum(s.high, cubic.high);
  HighLow half = quickTwoSum(sum.high, sum.low + (s.low + cubic.low));
  return multiply(half, constants(m, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55));
}

/// [power in parts] |base|^exponent in f64.
static Real powDouble(Real magnitude, Real exponent) {
  Mask denormal = magnitude < 0x1p-1022;
  Int encoded = bits(select(denormal, magnitude * 0x1p54, magnitude));
  Int power = exponentAbove(encoded, std::sqrt(0.5));
  HighLow fraction = log2Mantissa(fromBits(encoded - shiftLeft(power, 52)));
  Real whole = toReal(power) - select(denormal, constant(magnitude, 54.0), 0.0);
  HighLow sum = twoSum(whole, fraction.high);
  HighLow log2 = quickTwoSum(sum.high, sum.low + fraction.low);
  log2.high = select(magnitude == 0.0, -infinity, log2.high);
  log2.high = select(magnitude == infinity, infinity, log2.high);

  HighLow product = twoProduct(exponent, log2.high);
  Real low = product.low + exponent * log2.low;
  // Beyond the range, where the low part may be NaN, the high part decides alone.
  low = select(abs(product.high) < 1100.0, low, 0.0);
  Mask one = magnitude == 1.0;
  product.high = select(one, 0.0, product.high);
  low = select(one, 0.0, low);
  Real clamped = atMost(atLeast(product.high, -1100.0), 1100.0);
  Rounded rounded = roundToInt(clamped, 1.0, 2 * magnitude.bias());
  Real r = (clamped - rounded.n) + low;
  Real p = mulAdd(horner(r, fit::exp2F64), r, 1.0);
  return scaleByPowerOfTwo(p, rounded.n, rounded.raw);
}

//===- Signs and special values ---------------------------------------------------------------===//

/// [signs] Later cases decide: y = 0 and x = 1 give 1 even where the other is no number.
Real expandPow(Real base, Real exponent) {
  Real magnitude = abs(base);
  Real result =
      base.isDouble() ? powDouble(magnitude, exponent) : powSingle(magnitude, widen(exponent));
  Mask integral = trunc(exponent) == exponent;
  Real half = exponent * 0.5;
  Mask odd = integral & !(trunc(half) == half);
  result = select(isNegative(base) & odd, -result, result);
  result = select((base < 0.0) & (magnitude < infinity) & !integral, nan, result);
  result = select(unordered(base, exponent), base + exponent, result);
  return select((exponent == 0.0) | (base == 1.0), 1.0, result);
}

Real expandPow(Real base, Int exponent) {
  Real magnitude = abs(base), wide = toDouble(exponent);
  Real result = base.isDouble() ? powDouble(magnitude, wide) : powSingle(magnitude, wide);
  result = select(isNegative(base) & !((exponent & 1) == 0), -result, result);
  result = select(isNan(base), base, result);
  return select(exponent == 0, 1.0, result);
}

//===- Integer powers -------------------------------------------------------------------------===//

Int expandPow(Int base, Int exponent) {
  Mask negative = exponent < constant(exponent, 0);
  Int remaining = select(negative, exponent & 1, exponent);
  auto wrap = [&](mlir::Value value) { return Int{{base.emitter, value}}; };
  // [squares] Square and multiply until no lane has bits of its exponent left.
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

/// [halley] Cube root of positive f64 lanes in the normal range: a third of the exponent's bits is
/// right to 5 %, and each step of Halley's method triples the digits.
static Real cbrtMagnitude(Real x, int steps) {
  Int high = truncate(shiftRight(bits(x), 32), 32);
  // high / 3 by multiplication; the offset restores two thirds of the exponent bias.
  Int third = truncate(shiftRight(extendZero(high, 64) * 0x55555556, 32), 32) + 0x2a9f7893;
  Real root = fromBits(shiftLeft(extendZero(third, 64), 32));
  for (int i = 0; i < steps; ++i) {
    // root * (cube + 2x) / (2 cube + x), scaled to stay in the range.
    Real half = (root * root) * (root * 0.5);
    root = root * (mulAdd(half, 0.5, x * 0.5) / mulAdd(x, 0.25, half));
  }
  return root;
}

Real expandCbrt(Real x) {
  Real magnitude = abs(x), root = magnitude;
  if (x.isDouble()) {
    Mask small = magnitude < 0x1p-1000;
    root = cbrtMagnitude(select(small, magnitude * 0x1p54, magnitude), 3);
    root = select(small, root * 0x1p-18, root);
  } else {
    root = narrow(cbrtMagnitude(widen(magnitude), 2));
  }
  return select((x == 0.0) | !(magnitude < infinity), x, copySign(root, x));
}

Real expandRsqrt(Real x) { return 1.0 / sqrt(x); }

} // namespace weft::lanes
