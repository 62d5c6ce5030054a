//===- WeightPacker.cpp - The packer of a layout --------------------------------------------------===//

#include "compiler/artifact/WeightPacker.h"
#include "compiler/artifact/Dots.h"
#include "compiler/artifact/Panels.h"
#include "compiler/artifact/RoundedRows.h"
#include "compiler/artifact/WinogradFilters.h"

using namespace mlir;

namespace weft {

std::unique_ptr<WeightPacker> WeightPacker::of(const WeightLayout &layout) {
  switch (layout.kind) {
  case WeightLayout::Rows:
    break;
  case WeightLayout::RoundedRows:
    return std::make_unique<RoundedRowPacker>(layout);
  case WeightLayout::Panels:
    return std::make_unique<PanelPacker>(layout);
  case WeightLayout::Dots:
    return std::make_unique<DotPacker>(layout);
  case WeightLayout::Winograd:
    return std::make_unique<WinogradPacker>(layout);
  }
  llvm_unreachable("rows are copied as they are");
}

MatrixSize MatrixSize::of(SymTensorType type, WeightLayout::Order order) {
  SmallVector<int64_t> dims = *type.getConstantDims();
  if (order == WeightLayout::DepthByWidth)
    return {dims[0], dims[1]};
  MatrixSize size{1, dims[0]};
  for (int64_t dim : ArrayRef(dims).drop_front())
    size.depth *= dim;
  return size;
}

const FloatFormat *roundingOf(const WeightLayout &layout, SymTensorType type) {
  if (layout.form == WeightLayout::OfBF16)
    return floatFormatOf(BFloat16Type::get(type.getContext()));
  if (layout.form == WeightLayout::OfF16)
    return floatFormatOf(Float16Type::get(type.getContext()));
  return nullptr;
}

} // namespace weft
