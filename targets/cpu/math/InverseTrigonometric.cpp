//===- InverseTrigonometric.cpp - asin, acos, atan, atan2 -------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

#include <limits>

namespace weft::lanes {

/// A multiple of pi/2 as the nearest value of the format plus the rest.
struct Angle {
  double high, low;
};
static Angle halfPi(Real x) {
  return x.isDouble() ? Angle{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}
                      : Angle{0x1.921fb6p+0, -0x1.777a5cp-25};
}
static Angle pi(Real x) {
  Angle half = halfPi(x);
  return {2 * half.high, 2 * half.low};
}

/// angle - x; the low part keeps the error near half an ulp.
static Real subtractFrom(Angle angle, Real x) { return angle.high - (x - angle.low); }

/// asin and acos of |x| share this: the asin of |x| up to 1/2, and above 1/2 that of
/// sqrt((1-|x|)/2), which is half the acos of |x|.
struct ArcCore {
  Mask small;
  Real arc;
};
static ArcCore arcCore(Real x) {
  Real magnitude = abs(x);
  Mask small = magnitude <= 0.5;
  Real complement = (1.0 - magnitude) * 0.5;
  Real square = select(small, x * x, complement);
  Real root = select(small, magnitude, sqrt(complement));
  Real tail = (root * square) * horner(square, pick(x, fit::asinF32, fit::asinF64));
  return {small, root + tail};
}

Real expandAsin(Real x) {
  ArcCore core = arcCore(x);
  Real large = subtractFrom(halfPi(x), core.arc + core.arc);
  return copySign(select(core.small, core.arc, large), x);
}

Real expandAcos(Real x) {
  ArcCore core = arcCore(x);
  Mask negative = x < 0.0;
  Real twice = core.arc + core.arc;
  Real small = subtractFrom(halfPi(x), copySign(core.arc, x));
  Real large = select(negative, subtractFrom(pi(x), twice), twice);
  return select(core.small, small, large);
}

/// atan on [0, 1].
static Real atanKernel(Real x) {
  Real square = x * x;
  return mulAdd(x * square, horner(square, pick(x, fit::atanF32, fit::atanF64)), x);
}

Real expandAtan(Real x) {
  Real magnitude = abs(x);
  Mask large = magnitude > 1.0;
  Real arc = atanKernel(select(large, 1.0 / magnitude, magnitude));
  return copySign(select(large, subtractFrom(halfPi(x), arc), arc), x);
}

Real expandAtan2(Real y, Real x) {
  Real height = abs(y), width = abs(x);
  Mask steep = height > width;
  Real shorter = select(steep, width, height), longer = select(steep, height, width);
  Real ratio = shorter / longer;
  // 0/0 counts as angle 0 and infinity/infinity as 45 degrees.
  ratio = select(longer == 0.0, 0.0, ratio);
  ratio = select(shorter == std::numeric_limits<double>::infinity(), 1.0, ratio);
  Real arc = atanKernel(ratio);
  arc = select(steep, subtractFrom(halfPi(x), arc), arc);
  arc = select(isNegative(x), subtractFrom(pi(x), arc), arc);
  return select(unordered(x, y), x + y, copySign(arc, y));
}

} // namespace weft::lanes
