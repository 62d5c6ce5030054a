//===- Elements.cpp ---------------------------------------------------------------------------===//
//
// One description per type. f8e4m3 is the variant of the OCP standard that ONNX calls FLOAT8E4M3FN:
// no infinities, one NaN pattern per sign, so that the largest exponent carries numbers too. The fnuz types
// have a single NaN in the place of -0, and a bias that is larger by 1. f4e2m1 has no NaN: it becomes 0, and what is
// too large the largest number. f8e8m0 has nothing but an exponent: no sign, no 0, ties go up.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Elements.h"
#include "weft/runtime.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::cli {

namespace {

struct FloatForm {
  int exponentBits, mantissaBits;
  bool hasInfinity, hasNegativeZero = true, hasNaN = true;

  int bias() const { return (1 << (exponentBits - 1)) - (hasNegativeZero ? 1 : 0); }
  uint32_t magnitudes() const { return (1u << (exponentBits + mantissaBits)) - 1; }
  uint32_t infinity() const { return magnitudes() >> mantissaBits << mantissaBits; }
  uint32_t mantissaMask() const { return (1u << mantissaBits) - 1; }
  uint32_t sign() const { return mantissaBits ? magnitudes() + 1 : 0; }
  uint32_t notANumber() const {
    if (!hasNaN)
      return 0;
    if (!hasNegativeZero)
      return sign();
    return hasInfinity ? infinity() | 1u << (mantissaBits - 1) : magnitudes();
  }
  /// Bits of the largest finite value, and of what lies above.
  uint32_t largest() const {
    if (hasInfinity)
      return infinity() - 1;
    return hasNaN && hasNegativeZero ? magnitudes() - 1 : magnitudes();
  }
  uint32_t overflow() const { return hasInfinity ? infinity() : hasNaN ? notANumber() : largest(); }
};

FloatForm formOf(uint32_t element) {
  switch (element) {
  case WEFT_F16:
    return {5, 10, true};
  case WEFT_BF16:
    return {8, 7, true};
  case WEFT_F8E5M2:
    return {5, 2, true};
  case WEFT_F8E4M3FNUZ:
    return {4, 3, false, false};
  case WEFT_F8E5M2FNUZ:
    return {5, 2, false, false};
  case WEFT_F8E8M0:
    return {8, 0, false};
  case WEFT_F4E2M1:
    return {2, 1, false, true, false};
  default: // WEFT_F8E4M3
    return {4, 3, false};
  }
}

uint32_t encodePower(const FloatForm &form, double value) {
  if (!(value >= std::ldexp(1, -form.bias())) || std::isinf(value))
    return form.notANumber();
  int exponent;
  double fraction = std::frexp(value, &exponent); // 0.5 <= fraction < 1
  exponent += fraction >= 0.75;
  return std::min(static_cast<uint32_t>(exponent - 1 + form.bias()), form.notANumber());
}

} // namespace

double decodeFloat(uint32_t element, uint32_t bits) {
  FloatForm form = formOf(element);
  uint32_t magnitude = bits & form.magnitudes(), mantissa = bits & form.mantissaMask();
  int exponent = static_cast<int>(magnitude >> form.mantissaBits);
  bool isNaN = form.hasNegativeZero ? magnitude > form.largest() : bits == form.notANumber();
  double value;
  if (form.hasInfinity && magnitude == form.infinity())
    value = std::numeric_limits<double>::infinity();
  else if (isNaN)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0 && form.mantissaBits)
    value = std::ldexp(mantissa, 1 - form.bias() - form.mantissaBits);
  else
    value =
        std::ldexp(mantissa | 1u << form.mantissaBits, exponent - form.bias() - form.mantissaBits);
  return (bits & form.sign()) != 0 ? -value : value;
}

uint32_t encodeFloat(uint32_t element, double value) {
  FloatForm form = formOf(element);
  if (form.mantissaBits == 0)
    return encodePower(form, value);
  uint32_t sign = std::signbit(value) ? form.sign() : 0u;
  if (std::isnan(value))
    return sign | form.notANumber();
  if (std::isinf(value))
    return sign | form.overflow();
  int exponent;
  std::frexp(value, &exponent); // |value| = m * 2^exponent, 0.5 <= m < 1
  int unit = std::max(exponent - 1, 1 - form.bias()) - form.mantissaBits;
  // In units of the last place; nearbyint rounds ties to even. A carry moves into the exponent by
  // itself.
  double steps = std::nearbyint(std::ldexp(std::fabs(value), -unit));
  int64_t base = static_cast<int64_t>(unit + form.mantissaBits + form.bias() - 1)
                 << form.mantissaBits;
  int64_t bits = base + static_cast<int64_t>(steps);
  if (value == 0)
    bits = 0;
  if (bits == 0 && !form.hasNegativeZero)
    return 0;
  return sign | (bits > form.largest() ? form.overflow() : static_cast<uint32_t>(bits));
}

} // namespace weft::cli
