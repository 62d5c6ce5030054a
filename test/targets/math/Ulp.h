//===- Ulp.h - Error of a float result in units in the last place -----------------------------===//
//
// References have more precision than the type measured: double for f32, long double for f64.
//
//===------------------------------------------------------------------------------------------===//

#ifndef WEFT_TEST_TARGETS_MATH_ULP_H
#define WEFT_TEST_TARGETS_MATH_ULP_H

#include <cmath>
#include <limits>

namespace weft::test {

/// |got - reference| in units of T's last place at the reference. Infinite where a NaN, an
/// infinity, an exact zero or the sign of a zero is wrong.
template <typename T, typename Wide> double ulpError(T got, Wide reference) {
  using Limits = std::numeric_limits<T>;
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(reference))
    return std::isnan(got) ? 0 : wrong;
  if (std::isnan(got))
    return wrong;
  if (got == 0 && std::signbit(got) != std::signbit(reference))
    return wrong;
  if (reference == 0)
    return got == 0 ? 0 : wrong;
  // One step above the largest finite value; what lies beyond its middle rounds to infinity.
  Wide beyond = std::ldexp(Wide(1), Limits::max_exponent);
  int exponent = std::isinf(reference) ? Limits::max_exponent - 1 : std::ilogb(reference);
  exponent = std::min(std::max(exponent, Limits::min_exponent - 1), Limits::max_exponent - 1);
  Wide ulp = std::ldexp(Wide(1), exponent - (Limits::digits - 1));
  auto bounded = [&](Wide value) { return std::max(-beyond, std::min(beyond, value)); };
  if (std::isinf(reference) && !std::isinf(got))
    return wrong;
  return static_cast<double>(std::abs(bounded(got) - bounded(reference)) / ulp);
}

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_MATH_ULP_H
