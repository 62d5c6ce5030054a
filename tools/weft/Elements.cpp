//===- Elements.cpp ---------------------------------------------------------------------------===//
//
// One description per type. f8e4m3 is the variant of the OCP standard that ONNX calls FLOAT8E4M3FN:
// no infinities, one NaN pattern per sign, so that the largest exponent carries numbers too. The fnuz types
// have a single NaN in the place of -0, and a bias that is larger by 1.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/Elements.h"
#include "weft/runtime.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::cli {

namespace {

struct FloatForm {
  int exponentBits, mantissaBits;
  bool hasInfinity, hasNegativeZero = true;

  int bias() const { return (1 << (exponentBits - 1)) - (hasNegativeZero ? 1 : 0); }
  uint32_t topExponent() const { return (1u << exponentBits) - 1; }
  uint32_t mantissaMask() const { return (1u << mantissaBits) - 1; }
  uint32_t sign() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t notANumber() const {
    if (!hasNegativeZero)
      return sign();
    return topExponent() << mantissaBits |
           (hasInfinity ? 1u << (mantissaBits - 1) : mantissaMask());
  }
  /// Bits of the largest finite value.
  uint32_t largest() const {
    return hasInfinity ? ((topExponent() << mantissaBits) - 1) : notANumber() - 1;
  }
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
  default: // WEFT_F8E4M3
    return {4, 3, false};
  }
}

} // namespace

double decodeFloat(uint32_t element, uint32_t bits) {
  FloatForm form = formOf(element);
  if (!form.hasNegativeZero && bits == form.notANumber())
    return std::numeric_limits<double>::quiet_NaN();
  bool sign = (bits & form.sign()) != 0;
  uint32_t exponent = bits >> form.mantissaBits & form.topExponent();
  uint32_t mantissa = bits & form.mantissaMask();
  double value;
  if (form.hasInfinity && exponent == form.topExponent())
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (!form.hasInfinity && (exponent << form.mantissaBits | mantissa) == form.notANumber())
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - form.bias() - form.mantissaBits);
  else
    value = std::ldexp(mantissa | 1u << form.mantissaBits,
                       static_cast<int>(exponent) - form.bias() - form.mantissaBits);
  return sign ? -value : value;
}

uint32_t encodeFloat(uint32_t element, double value) {
  FloatForm form = formOf(element);
  uint32_t sign = std::signbit(value) ? form.sign() : 0u;
  if (std::isnan(value))
    return sign | form.notANumber();
  uint32_t overflow =
      form.hasInfinity ? form.topExponent() << form.mantissaBits : form.notANumber();
  if (std::isinf(value))
    return sign | overflow;
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
  return sign | (bits > form.largest() ? overflow : static_cast<uint32_t>(bits));
}

} // namespace weft::cli
