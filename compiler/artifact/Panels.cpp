//===- Panels.cpp - Packs weights panel by panel --------------------------------------------------===//

#include "compiler/artifact/Panels.h"
#include "dialects/plan/WeightParts.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace weft {

PanelPacker::PanelPacker(const WeightLayout &layout)
    : layout(layout), columns(layout.columns), bits(layout.bits()), perWord(layout.perWord()) {}

uint64_t PanelPacker::bytes(SymTensorType type) const {
  return llvm::divideCeil(MatrixSize::of(type, layout.order).width, columns) *
         panelBytes(layout, type);
}

namespace {

/// Reads elements one by one.
class Elements {
public:
  Elements(Type element, const char *bytes)
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
  Type element;
  const FloatFormat *format;
  unsigned bits;
  const char *bytes;
};

} // namespace

llvm::Error PanelPacker::pack(SymTensorType type, const char *bytes, Write write) const {
  auto [k, n] = MatrixSize::of(type, layout.order);
  bool tapByTap = layout.order == WeightLayout::TapByTap,
       transposed = layout.order != WeightLayout::DepthByWidth;
  int64_t channels = tapByTap ? *type.getDim(1).asConstant() : k, taps = k / channels;
  Type element = type.getElementType();
  Elements elements(element, bytes);
  bool plain = element.isF32();
  const FloatFormat *rounding = roundingOf(layout, type);
  const llvm::fltSemantics &semantics =
      layout.form == WeightLayout::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
  uint64_t flip = bits == 4 && !isUnsigned(element) && !isFloat(element) ? 8 : 0;
  auto value = [&](int64_t at) -> uint64_t {
    if (bits == 32) {
      float real = 0;
      if (plain)
        memcpy(&real, bytes + at * sizeof(float), sizeof(real));
      else
        real = elements.real(at);
      if (rounding)
        real = float(rounding->decode(rounding->encode(real)));
      uint32_t word;
      memcpy(&word, &real, sizeof(word));
      return word;
    }
    return bits == 16 ? elements.half(at, semantics) : elements.raw(at) ^ flip;
  };
  // The first four nibbles are the low halves of the word's bytes.
  auto shift = [&](int64_t part) {
    return bits != 4 ? part * bits % 32 : part < 4 ? 8 * part : 8 * (part - 4) + 4;
  };
  auto place = [&](int64_t i) { return taps == 1 ? i : i % channels * taps + i / channels; };
  std::string panel(panelBytes(layout, type), '\0');
  for (int64_t first = 0; first < n; first += columns) {
    std::fill(panel.begin(), panel.end(), '\0');
    int64_t count = std::min(columns, n - first);
    for (int64_t j = 0; j < count; ++j)
      for (int64_t i = 0; i < k; i += perWord) {
        uint32_t word = 0;
        for (int64_t part = 0; part < perWord && i + part < k; ++part)
          word |= uint32_t(value(transposed ? (first + j) * k + place(i + part)
                                            : (i + part) * n + first + j))
                  << shift(part);
        memcpy(&panel[(i / perWord * columns + j) * wordBytes()], &word, wordBytes());
      }
    if (llvm::Error error = write(panel))
      return error;
  }
  return llvm::Error::success();
}

} // namespace weft
