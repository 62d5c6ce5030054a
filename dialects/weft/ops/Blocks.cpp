//===- Blocks.cpp - dequantize_blocks: types ---------------------------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult DequantizeBlocksOp::inferReturnTypes(MLIRContext *context,
                                                   std::optional<Location> location,
                                                   Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  int64_t axis = adaptor.getAxis(), block = adaptor.getBlock(), rank = input.getRank();
  if (axis < 0 || axis >= rank) // R1
    return emitOptionalError(location, "'weft.dequantize_blocks' has no axis ", axis, " in ",
                             input);
  auto size = input.getDim(axis).asConstant();
  for (Value parameter : adaptor.getOperands().drop_front()) {
    auto type = tensorType(parameter);
    bool agrees = int64_t(type.getRank()) == rank;
    for (int64_t d = 0; agrees && d < rank; ++d)
      agrees = d == axis || type.getDim(d) == input.getDim(d);
    if (!agrees) // R1
      return refuseBeside(location, adaptor.getInput(), "input", "'weft.dequantize_blocks': ", type,
                          " has not one value per block of ", input);
    auto blocks = type.getDim(axis).asConstant();
    if (!size || !blocks || block < 1 || block > (int64_t(1) << 31) ||
        *blocks * block < *size) // R2
      return emitOptionalError(location, "'weft.dequantize_blocks': ", type,
                               " has too few blocks of ", block, " for ", input);
  }
  Type element = input.getElementType();
  if (element.isInteger(1) || elementBits(element) > 16 ||
      !isFloat(elementOf(adaptor.getScale()))) // R3
    return emitOptionalError(
        location,
        "'weft.dequantize_blocks' takes elements of at most 16 bits and floats as scales, but got ",
        element, " and ", elementOf(adaptor.getScale()));
  results.push_back(input.withElement(Float32Type::get(context)));
  return success();
}

/// Computed where it is read: a kernel that reads a dequantised value reads the integers.
RootKind DequantizeBlocksOp::rootKind() { return RootKind::View; }

} // namespace weft
