#include "test/onnx_suite/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::suite {

static bool agrees(double got, double expected, Tolerance tolerance) {
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) && std::isnan(expected);
  if (std::isinf(got) || std::isinf(expected))
    return got == expected;
  return std::fabs(got - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

/// What rounding once changes in the largest finite element.
static double lastPlaceOfLargest(const cli::HostTensor &tensor) {
  double most = 0, digits = tensor.element() == WEFT_F32   ? 23
                            : tensor.element() == WEFT_F16 ? 10
                                                           : 52;
  if (!cli::isFloat(tensor.element()))
    return 0;
  for (int64_t i = tensor.count(); i-- > 0;)
    if (double value = std::fabs(tensor.get(i)); std::isfinite(value))
      most = std::max(most, value);
  return std::ldexp(most, -int(digits));
}

static std::string differenceOfTypes(const cli::HostTensor &got, const cli::HostTensor &expected) {
  if (got.element() != expected.element())
    return std::string("has elements of type ") + weft_element_name(got.element()) +
           " instead of " + weft_element_name(expected.element());
  if (got.dims() != expected.dims())
    return "has shape " + cli::printDims(got.dims()) + " instead of " +
           cli::printDims(expected.dims());
  return "";
}

std::string differenceOf(const cli::HostTensor &got, const cli::HostTensor &expected,
                         Tolerance tolerance) {
  if (std::string why = differenceOfTypes(got, expected); !why.empty())
    return why;
  if (got.element() == WEFT_BF16)
    tolerance.relative = std::max(tolerance.relative, 1.0 / 64);
  tolerance.absolute += 2 * lastPlaceOfLargest(expected);
  int64_t wrong = 0, first = 0;
  for (int64_t i = got.count(); i-- > 0;) {
    bool good = cli::isFloat(got.element()) ? agrees(got.get(i), expected.get(i), tolerance)
                                            : got.sameBits(expected, i);
    if (!good)
      ++wrong, first = i;
  }
  if (wrong == 0)
    return "";
  char text[160];
  snprintf(text, sizeof text,
           "differs in %lld of %lld elements, first at %lld: %.9g instead of %.9g",
           (long long)wrong, (long long)got.count(), (long long)first, got.get(first),
           expected.get(first));
  return text;
}

std::string differenceInKind(const cli::HostTensor &got, const cli::HostTensor &expected) {
  if (std::string why = differenceOfTypes(got, expected); !why.empty())
    return why;
  std::vector<double> possible;
  for (int64_t i = expected.count(); i-- > 0;)
    possible.push_back(expected.get(i));
  for (int64_t i = got.count(); i-- > 0;)
    if (!std::count(possible.begin(), possible.end(), got.get(i)))
      return "has " + std::to_string(got.get(i)) + ", which is not among the values expected";
  return "";
}

} // namespace weft::suite
