//===- Exponential.cpp - exp, exp2, expm1, sinh, cosh -----------------------------------------===//
//
// x = n ln 2 + r with |r| <= ln(2)/2; a polynomial gives e^r and an exponent 2^n.
//
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

namespace weft::lanes {

static constexpr double log2E = 1.4426950408889634;
// The high parts have so few bits that n times them is exact, for every n met here.
static constexpr double ln2HighF32 = 0x1.62e4p-1, ln2LowF32 = 0x1.7f7d1cp-20;
static constexpr double ln2HighF64 = 0x1.62e42feep-1, ln2LowF64 = 0x1.a39ef35793c76p-33;

/// x without its multiple n of ln 2.
static Real reduce(Real x, Real n) {
  Real r = mulAdd(n, pick(x, -ln2HighF32, -ln2HighF64), x);
  return mulAdd(n, pick(x, -ln2LowF32, -ln2LowF64), r);
}

/// e^x * 2^shift for x in a range that the clamps below give.
static Real expInRange(Real x, int shift) {
  Rounded rounded = roundToInt(x, log2E, 2 * x.bias() + shift);
  Real r = reduce(x, rounded.n);
  Real p = horner(r, pick(x, fit::expF32, fit::expF64));
  p = mulAdd(mulAdd(p, r, 1.0), r, 1.0);
  Real n = shift ? rounded.n + shift : rounded.n;
  return scaleByPowerOfTwo(p, n, rounded.raw);
}

/// The same; 0 below and infinity above the range.
static Real expTimesPowerOfTwo(Real x, int shift) {
  return expInRange(atMost(atLeast(x, pick(x, -104.0, -746.0)), pick(x, 90.0, 711.0)), shift);
}

Real expandExp(Real x) { return expTimesPowerOfTwo(x, 0); }

Real expandBoundedExp(Real x) { return expInRange(x, 0); }

Real expandExp2(Real x) {
  x = atMost(atLeast(x, pick(x, -151.0, -1076.0)), pick(x, 129.0, 1025.0));
  Rounded rounded = roundToInt(x, 1.0, 2 * x.bias());
  Real r = x - rounded.n;
  Real p = mulAdd(horner(r, pick(x, fit::exp2F32, fit::exp2F64)), r, 1.0);
  return scaleByPowerOfTwo(p, rounded.n, rounded.raw);
}

/// x = n ln 2 + r as 2^(n+shift) and e^r - 1, for powers in the format's range.
struct ExpM1Parts {
  Real scale, grown;
};
static ExpM1Parts expM1Parts(Real x, int shift) {
  Rounded rounded = roundToInt(x, log2E, x.bias() + shift);
  Real r = reduce(x, rounded.n);
  Real grown = mulAdd(r * r, horner(r, pick(x, fit::expF32, fit::expF64)), r);
  return {fromBits(shiftLeft(rounded.raw, x.mantissaBits())), grown};
}

Real expM1Moderate(Real x) {
  ExpM1Parts parts = expM1Parts(x, 0);
  return mulAdd(parts.scale, parts.grown, parts.scale - 1.0);
}

Real expandExpM1(Real x) {
  // Halved until the end, because 2^128 is no f32; the upper clamp doubles to infinity.
  Real clamped = atMost(atLeast(x, pick(x, -20.0, -50.0)), pick(x, 89.0, 710.0));
  ExpM1Parts parts = expM1Parts(clamped, -1);
  Real result = mulAdd(parts.scale, parts.grown, parts.scale - 0.5) * 2.0;
  // Keeps -0 and denormals.
  return select(abs(x) < pick(x, 0x1p-25, 0x1p-54), x, result);
}

Real expandSinh(Real x) {
  Real magnitude = abs(x);
  Real half = expTimesPowerOfTwo(magnitude, -1);
  Real large = copySign(half - 0.25 / half, x);
  Real square = x * x;
  Real small = mulAdd(x * square, horner(square, pick(x, fit::sinhF32, fit::sinhF64)), x);
  return select(magnitude < 1.0, small, large);
}

Real expandCosh(Real x) {
  Real half = expTimesPowerOfTwo(abs(x), -1);
  return half + 0.25 / half;
}

} // namespace weft::lanes
