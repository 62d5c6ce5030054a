//===- WeightParts.cpp --------------------------------------------------------------------------------===//

#include "dialects/plan/WeightParts.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;

namespace weft {
namespace {

int64_t product(ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
}

/// The dimension whose elements lie side by side.
unsigned columnDim(const WeightLayout &layout) {
  bool isMatrix = layout.kind != WeightLayout::Winograd;
  return isMatrix && layout.order == WeightLayout::DepthByWidth ? 1 : 0;
}

/// Of elements as they are: parts must be neighbours, of which each is one piece.
std::optional<SmallVector<int64_t>> distancesOfRows(SymTensorType whole, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> dims = *whole.getConstantDims(), distances;
  int64_t bits = elementBytes(whole.getElementType(), 8); // in memory
  bool isCut = false;
  for (auto [i, size] : enumerate(sizes)) {
    if (size == dims[i]) {
      distances.push_back(0);
      continue;
    }
    int64_t partBits = product(ArrayRef(dims).drop_front(i + 1)) * size * bits;
    bool isPiece = !isCut && product(sizes.take_front(i)) == 1;
    if (!isPiece || partBits % 8 != 0)
      return std::nullopt;
    isCut = size != 1;
    distances.push_back(partBits / 8);
  }
  return distances;
}

} // namespace

int64_t panelBytes(const WeightLayout &layout, SymTensorType type) {
  SmallVector<int64_t> dims = *type.getConstantDims();
  int64_t depth = product(dims) / std::max<int64_t>(dims[columnDim(layout)], 1);
  switch (layout.kind) {
  case WeightLayout::Rows:
  case WeightLayout::RoundedRows:
    break;
  case WeightLayout::Panels: // values that share a word are padded to whole words
    return int64_t(divideCeil(depth, layout.perColumn())) * layout.words * layout.columns *
           layout.wordBytes();
  case WeightLayout::Dots: {
    if (layout.hasFewBits()) // whole words of what is above the fourth bit
      return int64_t(divideCeil(depth, layout.perHighWord())) * layout.perHighWord() *
             layout.bits() / 8 * layout.columns;
    int64_t taps = dims.size() > 2 ? product(ArrayRef(dims).drop_front(2)) : 1;
    int64_t groups = divideCeil(layout.taps * (depth / taps), layout.group);
    return taps / layout.taps * groups * layout.group * layout.columns + layout.shiftBytes();
  }
  case WeightLayout::Winograd: {
    int64_t side = layout.tile + 2;
    int64_t words = layout.form == WeightLayout::I16 ? divideCeil(dims[1], 2) : dims[1];
    return side * side * words * layout.columns * layout.wordBytes();
  }
  }
  llvm_unreachable("rows have no panels");
}

std::optional<SmallVector<int64_t>> partDistances(const WeightLayout &layout, SymTensorType whole,
                                                  ArrayRef<int64_t> sizes) {
  if (layout.isRows())
    return distancesOfRows(whole, sizes);
  if (layout.kind == WeightLayout::RoundedRows) // is for devices, which have no ranks
    return std::nullopt;
  SmallVector<int64_t> dims = *whole.getConstantDims(), distances;
  for (auto [i, size] : enumerate(sizes)) {
    if (size == dims[i]) {
      distances.push_back(0);
    } else if (i == columnDim(layout)) {
      if (size % layout.columns != 0)
        return std::nullopt;
      distances.push_back(size / layout.columns * panelBytes(layout, whole));
    } else {
      if (layout.depth != dims[i] || dims.size() != 2 || size % layout.perColumn() != 0)
        return std::nullopt;
      distances.push_back(size / layout.perWord() * layout.columns * layout.wordBytes());
    }
  }
  return distances;
}

bool partsAreWhole(const WeightLayout &layout, SymTensorType whole, unsigned dim, int64_t ranks) {
  auto dims = whole.getConstantDims();
  if (!dims || (*dims)[dim] % ranks != 0)
    return false;
  if (layout.isRows())
    return product(ArrayRef(*dims).take_front(dim)) == 1;
  if (layout.kind == WeightLayout::RoundedRows)
    return false;
  int64_t columns = (*dims)[dim];
  return dim == columnDim(layout) && columns % (ranks * layout.columns) == 0 &&
         columns / layout.columns * panelBytes(layout, whole) * 8 ==
             product(*dims) * int64_t(elementBits(whole.getElementType()));
}

WeightLayout layoutInWhole(WeightLayout layout, SymTensorType whole, SymTensorType part) {
  if (layout.kind != WeightLayout::Panels || layout.order == WeightLayout::TapByTap ||
      whole.getRank() != 2 || part.getRank() != 2)
    return layout;
  unsigned depthDim = 1 - columnDim(layout);
  WeightLayout inside = layout;
  inside.depth = *whole.getDim(depthDim).asConstant();
  bool isCut = part.getDim(depthDim) != whole.getDim(depthDim);
  auto sizes = part.getConstantDims();
  return isCut && (!sizes || partDistances(inside, whole, *sizes)) ? inside : layout;
}

} // namespace weft
