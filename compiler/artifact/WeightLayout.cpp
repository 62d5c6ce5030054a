//===- WeightLayout.cpp - Layouts by name ---------------------------------------------------------===//

#include "compiler/artifact/WeightLayout.h"
#include "compiler/artifact/Dots.h"
#include "compiler/artifact/Panels.h"
#include "compiler/artifact/WinogradLayout.h"

using namespace mlir;

namespace weft {

std::unique_ptr<WeightLayout> WeightLayout::named(StringRef name) {
  if (name.starts_with("dots"))
    return std::make_unique<DotLayout>(name);
  if (name.starts_with("winograd"))
    return std::make_unique<WinogradLayout>(name);
  return std::make_unique<PanelLayout>(name);
}

MatrixSize MatrixSize::of(SymTensorType type, bool transposed) {
  SmallVector<int64_t> dims = *type.getConstantDims();
  if (!transposed)
    return {dims[0], dims[1]};
  MatrixSize size{1, dims[0]};
  for (int64_t dim : ArrayRef(dims).drop_front())
    size.depth *= dim;
  return size;
}

} // namespace weft
