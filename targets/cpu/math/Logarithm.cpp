//===- Logarithm.cpp - log, log2, log10, log1p and the inverse hyperbolic functions -----------===//
//
// x = 2^e (1+f) with 3/4 <= 1+f < 3/2, and log(1+f) = f + low with a polynomial `low` much smaller
// than f near zero, so the leading term f carries no error.
//
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

#include <cmath>
#include <limits>

namespace weft::lanes {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
static constexpr double ln2 = 0.69314718055994531;
// High parts short enough that an exponent times them is exact; low parts positive, so that the
// infinite exponents of machines that split floats keep their sign.
static constexpr double ln2HighF32 = 0x1.62e4p-1, ln2LowF32 = 0x1.7f7d1cp-20;
static constexpr double ln2HighF64 = 0x1.62e42feep-1, ln2LowF64 = 0x1.a39ef35793c76p-33;

/// x = 2^exponent * (1 + fraction).
struct Split {
  Real exponent, fraction;
};

/// For finite positive x. Where machines split floats, for all x: the exponent of 0 is -infinity and that of
/// infinity is infinity, and a negative x has the fraction NaN.
static Split split(Real x) {
  if (splitsFloats(x)) {
    Real mantissa = mantissaNearOne(x);
    Real exponent = exponentOf(x);
    return {select(mantissa < 1.0, exponent + 1.0, exponent), mantissa - 1.0};
  }
  const int lift = x.mantissaBits() + 2;
  Mask denormal = x < std::ldexp(1.0, 1 - x.bias());
  Int encoded = bits(select(denormal, x * std::ldexp(1.0, lift), x));
  Int exponent = exponentAbove(encoded, 0.75);
  Real mantissa = fromBits(encoded - shiftLeft(exponent, x.mantissaBits()));
  Real correction = select(denormal, constant(x, lift), 0.0);
  return {toReal(exponent) - correction, mantissa - 1.0};
}

/// log(1+f) - f.
static Real logTail(Real f) {
  Real square = f * f;
  Real cubic = (f * square) * horner(f, pick(f, fit::logF32, fit::logF64));
  return mulAdd(square, -0.5, cubic);
}

/// Replaces the result where x is 0, negative, infinite or NaN.
static Real withLogSpecials(Real x, Real result) {
  if (splitsFloats(x))
    return result;
  Real special = select(x == 0.0, constant(x, -infinity), nan);
  result = select(x < infinity, result, x);
  return select(x <= 0.0, special, result);
}

/// exponent * ln 2 + f + tail.
static Real joinNatural(Real exponent, Real f, Real tail) {
  Real low = mulAdd(exponent, pick(f, ln2LowF32, ln2LowF64), tail);
  return mulAdd(exponent, pick(f, ln2HighF32, ln2HighF64), f + low);
}

Real expandLog(Real x) {
  Split s = split(x);
  return withLogSpecials(x, joinNatural(s.exponent, s.fraction, logTail(s.fraction)));
}

/// A constant as the nearest value of x's format plus the rest.
struct TwoParts {
  double high, low;
};

/// (f + tail) * scale with the rounding error of the scale made good.
static Real scaleLog(Split s, TwoParts scale) {
  Real tail = mulAdd(s.fraction, scale.low, logTail(s.fraction) * scale.high);
  return mulAdd(s.fraction, scale.high, tail);
}

Real expandLog2(Real x) {
  Split s = split(x);
  TwoParts scale = x.isDouble() ? TwoParts{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}
                                : TwoParts{0x1.715476p+0, 0x1.4ae0cp-26};
  return withLogSpecials(x, s.exponent + scaleLog(s, scale));
}

Real expandLog10(Real x) {
  Split s = split(x);
  TwoParts scale = x.isDouble() ? TwoParts{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}
                                : TwoParts{0x1.bcb7b2p-2, -0x1.5b235ep-27};
  TwoParts exponentScale = x.isDouble() ? TwoParts{0x1.34413509ep-2, 0x1.79fef311f12b3p-38}
                                        : TwoParts{0x1.344p-2, 0x1.3509f8p-18};
  Real low = mulAdd(s.exponent, exponentScale.low, scaleLog(s, scale));
  return withLogSpecials(x, mulAdd(s.exponent, exponentScale.high, low));
}

Real expandLog1p(Real x) {
  // 1+x = sum + error exactly; the error joins the fraction after the same scaling.
  HighLow one = twoSum(constant(x, 1.0), x);
  Real sum = one.high;
  Int encoded = bits(sum);
  Int exponent = exponentAbove(encoded, 0.75);
  Real mantissa = fromBits(encoded - shiftLeft(exponent, x.mantissaBits()));
  // 2^-exponent; for the largest sums that is out of range, but then the error counts for nothing.
  Int bounded = select(exponent < constant(exponent, x.bias() - 1), exponent,
                       constant(exponent, x.bias() - 1));
  Real scale = fromBits(constant(bounded, bitsOf(x, 1.0)) - shiftLeft(bounded, x.mantissaBits()));
  Real fraction = mulAdd(one.low, scale, mantissa - 1.0);
  Real result = joinNatural(toReal(exponent), fraction, logTail(fraction));
  Real special = select(x == -1.0, constant(x, -infinity), nan);
  result = select(sum < infinity, result, x);
  result = select(x <= -1.0, special, result);
  return select(abs(x) < pick(x, 0x1p-25, 0x1p-54), x, result);
}

/// log(2x) by log1p, for x so large that 1+x is x.
static Real selectLarge(Mask large, Real x, Real argument) {
  Real result = expandLog1p(select(large, x, argument));
  return select(large, result + ln2, result);
}

/// Squares neither overflow below nor matter above.
static double largeArgument(Real x) { return pick(x, 0x1p30, 0x1p60); }

Real expandAsinh(Real x) {
  Real magnitude = abs(x);
  Real square = magnitude * magnitude;
  Real argument = magnitude + square / (1.0 + sqrt(square + 1.0));
  return copySign(selectLarge(magnitude > largeArgument(x), magnitude, argument), x);
}

Real expandAcosh(Real x) {
  Real above = x - 1.0;
  Real argument = above + sqrt(above * (above + 2.0));
  Real result = selectLarge(x > largeArgument(x), x, argument);
  return select(x < 1.0, nan, result);
}

Real expandAtanh(Real x) {
  Real magnitude = abs(x);
  Real result = 0.5 * expandLog1p((magnitude + magnitude) / (1.0 - magnitude));
  return copySign(result, x);
}

} // namespace weft::lanes
