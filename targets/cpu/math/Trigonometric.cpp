//===- Trigonometric.cpp - sin, cos, tan ------------------------------------------------------===//
//
// x = n pi/2 + r with |r| <= pi/4. Moderate arguments subtract n times pi/2 in parts (Cody and
// Waite); huge ones multiply by the bits of 2/pi that matter (Payne and Hanek) in a branch that is
// taken only when a lane needs it.
//
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"
#include "targets/cpu/math/PiReduction.h"

namespace weft::lanes {

/// sin(r) for the reduced argument.
static Real sinKernel(Reduced reduced) {
  Real r = reduced.r, square = r * r;
  Real cubic = (r * square) * horner(square, pick(r, fit::sinF32, fit::sinF64));
  if (reduced.tail)
    cubic = cubic + mulAdd(square, -0.5, 1.0) * *reduced.tail;
  return r + cubic;
}

/// cos(r) for the reduced argument.
static Real cosKernel(Reduced reduced) {
  Real r = reduced.r, square = r * r;
  Real quartic = (square * square) * horner(square, pick(r, fit::cosF32, fit::cosF64));
  if (!reduced.tail)
    return mulAdd(square, -0.5, quartic) + 1.0;
  // 1 - r^2/2 in two parts, so that its rounding error is not lost.
  Real half = square * 0.5;
  Real leading = 1.0 - half;
  Real error = (1.0 - leading) - half;
  return leading + (error + (quartic - r * *reduced.tail));
}

/// All lanes with this bit of the quadrant set.
static Mask quadrantBit(Int quadrant, int64_t bit) { return !((quadrant & bit) == 0); }

/// +-sin or +-cos of the remainder, as the quadrant says.
static Real inQuadrant(Reduced reduced, Int quadrant) {
  Real result = select(quadrantBit(quadrant, 1), cosKernel(reduced), sinKernel(reduced));
  Int sign = shiftLeft(quadrant & 2, quadrant.width() - 2);
  return fromBits(bits(result) ^ sign);
}

/// Keeps -0 and denormals, which the reduction would lose; f(x) rounds to x there.
static Real withTiny(Real x, Real result) {
  return select(abs(x) < pick(x, 0x1p-13, 0x1p-27), x, result);
}

Real expandSin(Real x) {
  Reduced reduced = reduceByHalfPi(x);
  return withTiny(x, inQuadrant(reduced, reduced.quadrant));
}

Real expandCos(Real x) {
  Reduced reduced = reduceByHalfPi(x);
  return inQuadrant(reduced, reduced.quadrant + 1);
}

Real expandTan(Real x) {
  Reduced reduced = reduceByHalfPi(x);
  Real sine = sinKernel(reduced), cosine = cosKernel(reduced);
  Mask odd = quadrantBit(reduced.quadrant, 1);
  return withTiny(x, select(odd, -cosine, sine) / select(odd, sine, cosine));
}

} // namespace weft::lanes
