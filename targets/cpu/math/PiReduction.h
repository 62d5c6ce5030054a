//===- PiReduction.h - Arguments of trigonometric functions modulo pi/2 -----------------------===//

#ifndef WEFT_TARGETS_CPU_MATH_PIREDUCTION_H
#define WEFT_TARGETS_CPU_MATH_PIREDUCTION_H

#include "targets/cpu/math/LaneExpr.h"

#include <optional>

namespace weft::lanes {

/// x = n pi/2 + r + tail with |r| not much above pi/4; NaN for infinities.
struct Reduced {
  Real r;
  /// What r lost by rounding; only in f64.
  std::optional<Real> tail;
  /// n in its low two bits, as wide as x.
  Int quadrant;
};

/// Right for every finite x.
Reduced reduceByHalfPi(Real x);

} // namespace weft::lanes

#endif // WEFT_TARGETS_CPU_MATH_PIREDUCTION_H
