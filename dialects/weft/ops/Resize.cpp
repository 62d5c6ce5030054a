//===- Resize.cpp - resize: types --------------------------------------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  if (adaptor.getSizes().size() != input.getRank() || adaptor.getScales().size() != input.getRank())
    return emitOptionalError(location,
                             "'weft.resize' needs a size and a scale for each of the ", // R1
                             input.getRank(), " dimensions");
  if (llvm::any_of(adaptor.getScales(), [](double scale) { return !(scale >= 0); }))
    return emitOptionalError(location, "'weft.resize' scales must not be negative");
  if (adaptor.getMode() != ResizeMode::Nearest && !isFloat(input.getElementType())) // R2
    return emitOptionalError(location, "'weft.resize ", stringifyResizeMode(adaptor.getMode()),
                             "' needs floats, but its operand has elements ",
                             input.getElementType());
  results.push_back(
      SymTensorType::get(context, adaptor.getSizes().getDimAttributes(), input.getElementType()));
  return success();
}

/// Several neighbours are read per element, one with `nearest`.
RootKind ResizeOp::rootKind() {
  return getMode() == ResizeMode::Nearest ? RootKind::Loop : RootKind::Window;
}

bool ResizeOp::keepsDim(unsigned d) {
  double scale = getScales()[d];
  return tensorType(getInput()).getDim(d) == getSizes()[d] && (scale == 0 || scale == 1);
}

} // namespace weft
