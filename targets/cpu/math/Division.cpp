//===- Division.cpp - Division by a constant ------------------------------------------------------===//
//
// q = x * (1/c) is within two places of x/c. What is missing, x - q c, is exact in a fused
// multiply-add, and adding its quotient rounds as a division does (Brisebarre, Muller, Raina:
// Accelerating correctly rounded floating-point division when the divisor is known in advance).
// Four instructions, where a vector of 512 bits divides in 16 cycles or more.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Functions.h"

namespace weft::lanes {

Real divideByConstant(Real x, double c) {
  Real inverse = constant(x, 1 / c);
  Real q = x * inverse;
  Real missing = mulAdd(-q, c, x);
  // Nothing is where q is exact, as for -0, and NaN where it is infinite: it stays as it is then.
  return select((missing < 0.0) | (missing > 0.0), mulAdd(missing, inverse, q), q);
}

} // namespace weft::lanes
