//===- Saturating.cpp - tanh, erf and 1 + erf -------------------------------------------------===//
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

/// Of |x| by the polynomial around the nearest of 16 points: half the cost where lanes can look up.
static Real byTable(Real magnitude, llvm::ArrayRef<float[16]> table) {
  Rounded point = roundToInt(magnitude, 3.9, 0);
  Real distance = mulAdd(point.n, -0x1.06906ap-2, magnitude);
  Real result = lookUp(table.back(), point.raw);
  for (const auto &row : llvm::reverse(table.drop_back()))
    result = mulAdd(result, distance, lookUp(row, point.raw));
  return result;
}

/// log(1 - erf a) for 0 <= a <= limit: -a * (2/sqrt(pi) + polynomial in a)
static double limitOf(Real x) { return pick(x, 3.95, 6.0); }
static Real logErfc(Real magnitude) {
  const double slope = pick(magnitude, 0x1.20dd76p+0, 0x1.20dd750429b6dp+0);
  Real correction = magnitude * horner(magnitude, pick(magnitude, fit::erfF32, fit::erfF64));
  return mulAdd(magnitude, -slope, -correction);
}

Real expandErf(Real x) {
  if (hasTableLookUp(x))
    return copySign(byTable(atMost(abs(x), 3.97), fit::erfTable), x);
  return copySign(expM1Moderate(logErfc(atMost(abs(x), limitOf(x)))), x);
}

Real expandOnePlusErf(Real x) {
  Real magnitude = abs(x);
  bool table = hasTableLookUp(x);
  double limit = table ? 3.97 : limitOf(x);
  Real near = atMost(magnitude, limit);
  Real rest = table ? byTable(near, fit::erfcTable) : expandExp(logErfc(near));
  rest = select(magnitude > limit, 0.0, rest);
  return select(isNegative(x), rest, 2.0 - rest);
}

} // namespace weft::lanes
