//===- FloatFormat.cpp - The narrow floats and their values -------------------------------------===//

#include "dialects/weft/types/FloatFormat.h"
#include "dialects/weft/Weft.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace weft {

const FloatFormat *floatFormatOf(Type element) {
  using F = FloatFormat;
  static const F f16{5, 10, 15, F::InfinityAndNan}, bf16{8, 7, 127, F::InfinityAndNan},
      f8E5M2{5, 2, 15, F::InfinityAndNan}, f8E4M3FN{4, 3, 7, F::LastIsNan},
      f8E5M2FNUZ{5, 2, 16, F::NanForMinusZero}, f8E4M3FNUZ{4, 3, 8, F::NanForMinusZero},
      f8E8M0FNU{8, 0, 127, F::LastIsNan}, f4E2M1FN{2, 1, 1, F::Nothing};
  return TypeSwitch<Type, const F *>(element)
      .Case([](Float16Type) { return &f16; })
      .Case([](BFloat16Type) { return &bf16; })
      .Case([](mlir::Float8E5M2Type) { return &f8E5M2; })
      .Case([](mlir::Float8E4M3FNType) { return &f8E4M3FN; })
      .Case([](mlir::Float8E5M2FNUZType) { return &f8E5M2FNUZ; })
      .Case([](mlir::Float8E4M3FNUZType) { return &f8E4M3FNUZ; })
      .Case([](Float8E8M0FNUType) { return &f8E8M0FNU; })
      .Case([](Float4E2M1FNType) { return &f4E2M1FN; })
      .Default([](Type) { return nullptr; });
}

uint32_t FloatFormat::largest() const {
  switch (specials) {
  case InfinityAndNan:
    return infinity() - 1;
  case LastIsNan:
    return magnitudes() - 1;
  case NanForMinusZero:
  case Nothing:
    return magnitudes();
  }
  llvm_unreachable("closed set of specials");
}

uint32_t FloatFormat::nan() const {
  switch (specials) {
  case InfinityAndNan:
    return infinity() | 1u << (mantissaBits - 1);
  case LastIsNan:
    return magnitudes();
  case NanForMinusZero:
    return sign();
  case Nothing:
    return 0;
  }
  llvm_unreachable("closed set of specials");
}

uint32_t FloatFormat::overflow() const {
  return specials == InfinityAndNan ? infinity() : specials == Nothing ? largest() : nan();
}

double FloatFormat::decode(uint32_t bits) const {
  uint32_t magnitude = bits & magnitudes(), mantissa = magnitude & ((1u << mantissaBits) - 1);
  int exponent = int(magnitude >> mantissaBits);
  double value;
  if (magnitude > largest() || (specials == NanForMinusZero && bits == nan()))
    value = magnitude == overflow() && overflow() != nan() ? HUGE_VAL : std::nan("");
  else if (exponent == 0 && !isPowers())
    value = std::ldexp(mantissa, 1 - bias - int(mantissaBits));
  else
    value = std::ldexp(mantissa | 1u << mantissaBits, exponent - bias - int(mantissaBits));
  return bits & sign() ? -value : value;
}

uint32_t FloatFormat::encodePower(double value) const {
  double smallest = std::ldexp(1, -bias);
  if (!(value >= smallest) || std::isinf(value))
    return nan();
  int exponent = std::ilogb(value);
  exponent += std::ldexp(value, -exponent) >= 1.5;
  return std::min(uint32_t(exponent + bias), overflow());
}

uint32_t FloatFormat::encode(double value) const {
  if (isPowers())
    return encodePower(value);
  uint32_t negative = std::signbit(value) ? sign() : 0;
  if (std::isnan(value))
    return negative | nan();
  if (std::isinf(value))
    return negative | overflow();
  int exponent;
  std::frexp(value, &exponent); // |value| = m * 2^exponent, 0.5 <= m < 1
  int unit = std::max(exponent - 1, 1 - bias) - int(mantissaBits);
  // In units of the last place, rounded to even; a carry moves into the exponent by itself.
  double steps = value == 0 ? 0 : std::nearbyint(std::ldexp(std::fabs(value), -unit));
  int64_t base = value == 0 ? 0 : int64_t(unit + int(mantissaBits) + bias - 1) << mantissaBits;
  int64_t magnitude = base + int64_t(steps);
  if (magnitude == 0 && specials == NanForMinusZero)
    return 0;
  return negative | (magnitude > int64_t(largest()) ? overflow() : uint32_t(magnitude));
}

} // namespace weft
