//===- FloatFormat.h - Floats of at most 16 bits, described by their fields ---------------------===//
//
// The reference semantics and the generated code of a narrow float follow from one row of a table:
//
//   const FloatFormat *format = floatFormatOf(element);  // null for f32, f64 and integers
//   double value = format->decode(0x7e);
//   uint32_t bits = format->encode(0.3);                 // nearest, ties to even
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_TYPES_FLOATFORMAT_H
#define WEFT_DIALECTS_WEFT_TYPES_FLOATFORMAT_H

#include "mlir/IR/Types.h"
#include <cstdint>

namespace weft {

struct FloatFormat {
  /// What is no finite number.
  enum Specials {
    InfinityAndNan, ///< all of the largest exponent, as IEEE 754 has it
    LastIsNan,      ///< nan has all bits set; there is no infinity
    NanForMinusZero,
    Nothing ///< nan becomes 0, and what is too large the largest number
  };
  unsigned exponentBits, mantissaBits;
  int bias;
  Specials specials;

  /// Without a mantissa the values are powers of two: no sign and no zero. What is below the smallest becomes nan, ties go up.
  bool isPowers() const { return mantissaBits == 0; }
  unsigned bits() const { return exponentBits + mantissaBits + (isPowers() ? 0 : 1); }
  uint32_t sign() const { return isPowers() ? 0 : magnitudes() + 1; }
  /// All bits but the sign's.
  uint32_t magnitudes() const { return (1u << (exponentBits + mantissaBits)) - 1; }
  /// Bits of the largest finite number, of nan, and of what rounds to more than the largest.
  uint32_t largest() const;
  uint32_t nan() const;
  uint32_t overflow() const;

  double decode(uint32_t bits) const;
  uint32_t encode(double value) const;

private:
  uint32_t infinity() const { return magnitudes() >> mantissaBits << mantissaBits; }
  uint32_t encodePower(double value) const;
};

/// The format of a float type of at most 16 bits; null for every other type.
const FloatFormat *floatFormatOf(mlir::Type element);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_TYPES_FLOATFORMAT_H
