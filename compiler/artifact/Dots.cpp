//===- Dots.cpp - Packs bytes that are multiplied in groups -----------------------------------------===//

#include "compiler/artifact/Dots.h"
#include "dialects/plan/WeightParts.h"

using namespace mlir;

namespace weft {

DotPacker::Column DotPacker::columnOf(SymTensorType type) const {
  MatrixSize size = MatrixSize::of(type, layout.order);
  int64_t taps = 1;
  for (unsigned i = 2; i < type.getRank(); ++i)
    taps *= *type.getDim(i).asConstant();
  int64_t channels = size.depth / taps;
  return {size.width, channels, taps, taps / layout.taps,
          int64_t(llvm::divideCeil(layout.taps * channels, layout.group))};
}

uint64_t DotPacker::bytes(SymTensorType type) const {
  return llvm::divideCeil(columnOf(type).width, layout.columns) * panelBytes(layout, type);
}

/// Of the bytes of a panel, whose padding adds nothing.
void DotPacker::addShifts(SymTensorType type, std::string &panel) const {
  bool areUnsigned = isUnsigned(type.getElementType());
  SmallVector<int32_t> sums(layout.columns, 0);
  size_t ofProducts = panel.size() - layout.shiftBytes();
  for (size_t at = 0; at < ofProducts; ++at)
    sums[at / layout.group % layout.columns] +=
        areUnsigned ? int32_t(uint8_t(panel[at])) : int32_t(int8_t(panel[at]));
  for (int32_t &sum : sums)
    sum *= int32_t(layout.shift);
  memcpy(&panel[ofProducts], sums.data(), layout.shiftBytes());
}

/// Those of lower bits lie as numbers of 4 bits do (Panels.cpp). Byte i of the word behind them has the upper bits of a group's number i, those of
/// the first group lowest.
void DotPacker::addFewBits(uint8_t number, int64_t k, char *column) const {
  int64_t high = layout.bits() - 4, unit = layout.perHighWord(), words = unit / 8 + 1,
          inUnit = k % unit, inWord = k % 8;
  char *first = column + k / unit * words * layout.columns * 4;
  auto add = [&](int64_t word, unsigned bits, int64_t shift) {
    uint32_t value;
    char *at = first + word * layout.columns * 4;
    memcpy(&value, at, sizeof value);
    value |= bits << shift;
    memcpy(at, &value, sizeof value);
  };
  add(inUnit / 8, number & 15, 8 * (inWord % 4) + 4 * (inWord / 4));
  add(words - 1, number >> 4, 8 * (inUnit % 4) + high * (inUnit / 4));
}

llvm::Error DotPacker::packFewBits(SymTensorType type, const char *bytes, Write write) const {
  auto [depth, width] = MatrixSize::of(type, layout.order);
  std::string panel(panelBytes(layout, type), '\0');
  for (int64_t first = 0; first < width; first += layout.columns) {
    std::fill(panel.begin(), panel.end(), '\0');
    for (int64_t j = 0; j < std::min(layout.columns, width - first); ++j)
      for (int64_t k = 0; k < depth; ++k) {
        auto number =
            uint8_t(bytes[layout.order != WeightLayout::DepthByWidth ? (first + j) * depth + k
                                                                     : k * width + first + j]);
        if (number >> layout.bits())
          return llvm::createStringError("a weight has number " + llvm::Twine(unsigned(number)) +
                                         ", but its layout '" + layout.str() + "' has " +
                                         llvm::Twine(layout.bits()) + " bits");
        addFewBits(number, k, &panel[size_t(j * 4)]);
      }
    if (llvm::Error error = write(panel))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error DotPacker::pack(SymTensorType type, const char *bytes, Write write) const {
  if (layout.hasFewBits())
    return packFewBits(type, bytes, write);
  Column c = columnOf(type);
  int64_t columns = layout.columns, group = layout.group;
  std::string panel(panelBytes(layout, type), '\0');
  for (int64_t first = 0; first < c.width; first += columns) {
    std::fill(panel.begin(), panel.end(), '\0');
    for (int64_t j = 0; j < std::min(columns, c.width - first); ++j)
      for (int64_t tap = 0; tap < c.taps; ++tap)
        for (int64_t channel = 0; channel < c.channels; ++channel) {
          int64_t inRun = tap % layout.taps * c.channels + channel;
          int64_t at = tap / layout.taps * c.groups + inRun / group;
          int64_t i = channel * c.taps + tap;
          panel[(at * columns + j) * group + inRun % group] =
              bytes[layout.order != WeightLayout::DepthByWidth
                        ? (first + j) * c.channels * c.taps + i
                        : i * c.width + first + j];
        }
    if (layout.shift)
      addShifts(type, panel);
    if (llvm::Error error = write(panel))
      return error;
  }
  return llvm::Error::success();
}

} // namespace weft
