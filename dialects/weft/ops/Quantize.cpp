//===- Quantize.cpp - quantize, dequantize, fake_quantize, look_up: types -------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/ops/Rounding.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

bool isInteger(Type element) { return isa<IntegerType>(element) && !element.isInteger(1); }

LogicalResult inferWithElement(StringRef name, std::optional<Location> location,
                               ValueRange operands, Type element, SmallVectorImpl<Type> &results) {
  auto dims = inferDims("..., ..., ... -> ...", operands.getTypes(), location, name); // R2
  if (failed(dims))
    return failure();
  results.push_back(
      SymTensorType::get(element.getContext(),
                         DimsAttr::get(element.getContext(), *dims).getDimAttributes(), element));
  return success();
}

} // namespace

std::pair<double, double> integerRange(Type element) {
  unsigned bits = elementBits(element);
  return isUnsigned(element) ? std::pair(0.0, std::ldexp(1, bits) - 1)
                             : std::pair(-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1);
}

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type zero = elementOf(adaptor.getZero());
  if (!elementOf(adaptor.getInput()).isF32() || !elementOf(adaptor.getScale()).isF32() ||
      !isInteger(zero) || elementBits(zero) > 16) // R1
    return emitOptionalError(
        location, "'weft.quantize' makes integers of at most 16 bits from f32, but has operands ",
        adaptor.getInput().getType(), ", ", adaptor.getScale().getType(), " and ",
        adaptor.getZero().getType());
  return inferWithElement("quantize", location, adaptor.getOperands(), zero, results);
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type input = elementOf(adaptor.getInput()), scale = elementOf(adaptor.getScale());
  if (!isInteger(input) || input != elementOf(adaptor.getZero()) || !scale.isF32()) // R1
    return emitOptionalError(location,
                             "'weft.dequantize' makes f32 from integers and a zero point of their "
                             "type, but has operands ",
                             adaptor.getInput().getType(), ", ", adaptor.getScale().getType(),
                             " and ", adaptor.getZero().getType());
  return inferWithElement("dequantize", location, adaptor.getOperands(), scale, results);
}

/// Elements that are widened where they are read cost less than a tensor of floats; a contraction or window reads them many times.
RootKind DequantizeOp::rootKind() {
  bool readOnce = llvm::all_of((*this)->getUsers(), [](Operation *user) {
    auto element = dyn_cast<ElementOpInterface>(user);
    return element &&
           !isa<DequantizeOp, RoundBlocksOp>(user) && // the latter reads its blocks often
           (element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::Row);
  });
  return readOnce ? RootKind::View : RootKind::Loop;
}

LogicalResult FakeQuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type zero = elementOf(adaptor.getZero());
  if (!elementOf(adaptor.getInput()).isF32() || !elementOf(adaptor.getScale()).isF32() ||
      !elementOf(adaptor.getStep()).isF32() || !isInteger(zero) || elementBits(zero) > 16) // R1
    return emitOptionalError(location, "'weft.fake_quantize' rounds f32 with scales and steps of "
                                       "f32 and zero points of at most 16 bits");
  auto dims = inferDims("..., ..., ..., ... -> ...", adaptor.getOperands().getTypes(), location,
                        "fake_quantize"); // R2
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, elementOf(adaptor.getInput())));
  return success();
}

LogicalResult LookUpOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), table = tensorType(adaptor.getTable());
  if (!isByte(adaptor.getInput()) || !isByte(adaptor.getTable())) // R1
    return emitOptionalError(location, "'weft.look_up' gives bytes for bytes, but has operands ",
                             input, " and ", table);
  if (table.getRank() != 1 || !table.getDim(0).isConstant(kEntries)) // R2
    return refuseBeside(location, adaptor.getTable(), "table",
                        "'weft.look_up' has a table of 256 elements, but not ", table);
  results.push_back(input.withElement(table.getElementType()));
  return success();
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/QuantizeOps.cpp.inc"
