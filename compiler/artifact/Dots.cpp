//===- Dots.cpp - Packs bytes that are multiplied in groups -----------------------------------------===//

#include "compiler/artifact/Dots.h"

using namespace mlir;

namespace weft {

DotLayout::DotLayout(StringRef name) {
  transposed = name.consume_front("dots_t<");
  if (!transposed)
    name.consume_front("dots<");
  SmallVector<StringRef> parts;
  name.drop_back().split(parts, ',');
  parts[0].getAsInteger(10, columns), parts[1].getAsInteger(10, group),
      parts[2].getAsInteger(10, apart);
}

uint64_t DotLayout::bytes(SymTensorType type) const {
  MatrixSize size = MatrixSize::of(type, transposed);
  return llvm::alignTo(size.width, columns) * groups(size) * group;
}

llvm::Error DotLayout::pack(SymTensorType type, const char *bytes, Write write) const {
  MatrixSize size = MatrixSize::of(type, transposed);
  std::string panel(groups(size) * columns * group, '\0');
  for (int64_t first = 0; first < size.width; first += columns) {
    std::fill(panel.begin(), panel.end(), '\0');
    for (int64_t j = 0; j < std::min(columns, size.width - first); ++j)
      for (int64_t row = 0; row < size.depth / apart; ++row)
        for (int64_t part = 0; part < apart; ++part) {
          int64_t i = row * apart + part, at = row / group * apart + part;
          panel[(at * columns + j) * group + row % group] =
              bytes[transposed ? (first + j) * size.depth + i : i * size.width + first + j];
        }
    if (llvm::Error error = write(panel))
      return error;
  }
  return llvm::Error::success();
}

} // namespace weft
