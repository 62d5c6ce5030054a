//===- StoredElements.h - Reads a weight's elements one by one ----------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_STOREDELEMENTS_H
#define WEFT_COMPILER_ARTIFACT_STOREDELEMENTS_H

#include "dialects/weft/Weft.h"
#include "dialects/weft/types/FloatFormat.h"
#include "llvm/ADT/APFloat.h"

namespace weft {

/// Of a weight as the model stores it.
class StoredElements {
public:
  StoredElements(mlir::Type element, const char *bytes)
      : element(element), format(floatFormatOf(element)), bits(elementBits(element)), bytes(bytes) {
  }

  uint64_t raw(int64_t i) const {
    uint64_t value = 0;
    if (bits < 8)
      return uint8_t(bytes[i * bits / 8]) >> (i * bits % 8) & ((1u << bits) - 1);
    memcpy(&value, bytes + i * (bits / 8), bits / 8);
    return value;
  }

  float real(int64_t i) const {
    llvm::APInt value(bits, raw(i));
    if (format)
      return float(format->decode(uint32_t(raw(i))));
    if (isFloat(element))
      return element.isF32() ? value.bitsToFloat() : float(value.bitsToDouble());
    return isUnsigned(element) ? float(value.getZExtValue()) : float(value.getSExtValue());
  }

  /// As a float of 16 bits.
  uint16_t half(int64_t i, const llvm::fltSemantics &semantics) const {
    if (bits == 16)
      return uint16_t(raw(i));
    if (element.isF32() && &semantics == &llvm::APFloat::BFloat() &&
        (raw(i) & 0x7fffffff) <= 0x7f800000) // to nearest, then to even
      return uint16_t((raw(i) + 0x7fff + (raw(i) >> 16 & 1)) >> 16);
    llvm::APFloat number(real(i));
    bool lost;
    number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    return uint16_t(number.bitcastToAPInt().getZExtValue());
  }

private:
  mlir::Type element;
  const FloatFormat *format;
  unsigned bits;
  const char *bytes;
};

} // namespace weft

#endif // WEFT_COMPILER_ARTIFACT_STOREDELEMENTS_H
