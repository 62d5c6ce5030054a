//===- Panels.cpp - Packs weights panel by panel --------------------------------------------------===//

#include "compiler/artifact/Panels.h"
#include "compiler/artifact/StoredElements.h"
#include "dialects/plan/WeightParts.h"

using namespace mlir;

namespace weft {

PanelPacker::PanelPacker(const WeightLayout &layout)
    : layout(layout), columns(layout.columns), bits(layout.bits()), perWord(layout.perWord()) {}

uint64_t PanelPacker::bytes(SymTensorType type) const {
  return llvm::divideCeil(MatrixSize::of(type, layout.order).width, columns) *
         panelBytes(layout, type);
}

llvm::Error PanelPacker::pack(SymTensorType type, const char *bytes, Write write) const {
  auto [k, n] = MatrixSize::of(type, layout.order);
  bool tapByTap = layout.order == WeightLayout::TapByTap,
       transposed = layout.order != WeightLayout::DepthByWidth;
  int64_t channels = tapByTap ? *type.getDim(1).asConstant() : k, taps = k / channels;
  Type element = type.getElementType();
  StoredElements elements(element, bytes);
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
        int64_t row = i / layout.perColumn(), ofColumn = i / perWord % layout.words;
        memcpy(&panel[((row * columns + j) * layout.words + ofColumn) * wordBytes()], &word,
               wordBytes());
      }
    if (llvm::Error error = write(panel))
      return error;
  }
  return llvm::Error::success();
}

} // namespace weft
