//===- Saturating.cpp - tanh and erf ----------------------------------------------------------===//
//
// Both approach 1 as 1 - e^-t does. Built on expm1 they are accurate near zero and near one without
// a second branch; rational approximations cost the same and lose 4 to 6 ulp near one.
//
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/math/Coefficients.h"
#include "targets/cpu/math/Functions.h"

namespace weft::lanes {

Real expandTanh(Real x) {
  // tanh a = (e^2a - 1) / (e^2a + 1)
  Real magnitude = abs(x);
  Real twice = atMost(magnitude + magnitude, pick(x, 20.0, 44.0));
  Real grown = expM1Moderate(twice);
  return copySign(quickDivide(grown, grown + 2.0), x);
}

/// erf by the polynomial around the nearest of 16 points: half the cost where lanes can look up.
static Real erfByTable(Real x) {
  Real magnitude = atMost(abs(x), 3.97);
  Rounded point = roundToInt(magnitude, 3.9, 0);
  Real distance = mulAdd(point.n, -0x1.06906ap-2, magnitude);
  Real result = lookUpAvx512(fit::erfTable[std::size(fit::erfTable) - 1], point.raw);
  for (const auto &row : llvm::reverse(llvm::ArrayRef(fit::erfTable).drop_back()))
    result = mulAdd(result, distance, lookUpAvx512(row, point.raw));
  return copySign(result, x);
}

Real expandErf(Real x) {
  if (hasTableLookUp(x))
    return erfByTable(x);
  // erf a = 1 - e^-t with t = -log(1 - erf a) = a * (2/sqrt(pi) + polynomial in a)
  const double slope = pick(x, 0x1.20dd76p+0, 0x1.20dd750429b6dp+0);
  Real magnitude = atMost(abs(x), pick(x, 3.95, 6.0));
  Real correction = magnitude * horner(magnitude, pick(x, fit::erfF32, fit::erfF64));
  Real negated = mulAdd(magnitude, -slope, -correction);
  return copySign(expM1Moderate(negated), x);
}

} // namespace weft::lanes
