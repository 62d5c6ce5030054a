//===- Create.cpp - Constants, weights, iota, dimensions as data: checks -----------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult WeightOp::verify() {
  auto type = cast<SymTensorType>(getType());
  auto dims = type.getConstantDims();
  if (!dims)
    return emitOpError("must have constant dimensions, but is ") << type;
  int64_t count = 1;
  for (int64_t dim : *dims)
    if (__builtin_mul_overflow(count, dim, &count))
      return emitOpError("has more elements than 64 bits count");
  if (count > (int64_t(1) << 58) ||
      int64_t(elementBytes(type.getElementType(), count)) != int64_t(getBytes()))
    return emitOpError() << "needs " << elementBytes(type.getElementType(), count) << " bytes for "
                         << type << ", but 'bytes' is " << int64_t(getBytes());
  return success();
}

/// Whether a number of numberType(element) is one of the element's.
static bool isNumberOf(Type element, Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  if (!real || real.getType() == element)
    return true;
  double value = real.getValueAsDouble(), held = roundReal(element, value);
  return held == value || (std::isnan(held) && std::isnan(value));
}

LogicalResult ConstantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = tensorType(getResult());
  auto name = dyn_cast<FlatSymbolRefAttr>(getValue());
  if (!name)
    return success();
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, name);
  if (!weight)
    return emitOpError("names weight '") << name.getValue() << "', which does not exist";
  if (weight.getType() == type)
    return success();
  InFlightDiagnostic error = emitOpError("has type ") << type << ", but weight '" << name.getValue()
                                                      << "' has type " << weight.getType();
  error.attachNote(weight.getLoc()) << "the weight is declared here";
  return error;
}

LogicalResult ConstantOp::verify() {
  auto type = tensorType(getResult());
  if (isa<FlatSymbolRefAttr>(getValue()))
    return success();
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements)
    return emitOpError("must have dense elements");
  auto dims = type.getConstantDims();
  if (!dims || ArrayRef<int64_t>(*dims) != elements.getType().getShape() ||
      elements.getElementType() != numberType(type.getElementType()))
    return emitOpError("has elements of type ")
           << elements.getType() << ", but its type is " << type;
  if (numberType(type.getElementType()) != type.getElementType())
    for (Attribute number : elements.getValues<Attribute>())
      if (!isNumberOf(type.getElementType(), number))
        return emitOpError("has an element ") << number << ", which " << type << " cannot hold";
  return success();
}

LogicalResult FillOp::verify() {
  Type element = elementOf(getResult());
  if (getValue().getType() != numberType(element))
    return emitOpError("has a value of type ")
           << getValue().getType() << ", but its elements are " << element;
  if (!isNumberOf(element, getValue()))
    return emitOpError("has the value ")
           << getValue() << ", which its elements " << element << " cannot hold";
  return success();
}

LogicalResult IotaOp::verify() {
  if (getDim() < 0 || getDim() >= tensorType(getResult()).getRank())
    return emitOpError("has no dimension ") << getDim();
  return success();
}

LogicalResult DimsValueOp::verify() {
  auto type = tensorType(getResult());
  if (!type.getElementType().isInteger(64) || type.getRank() > 1)
    return emitOpError("gives i64 of rank 0 or 1, but its type is ") << type;
  int64_t want = type.getRank() == 0 ? 1 : type.getDim(0).asConstant().value_or(-1);
  if (want != getValues().size())
    return emitOpError("has ") << getValues().size() << " values, but its type is " << type;
  return success();
}

} // namespace weft
