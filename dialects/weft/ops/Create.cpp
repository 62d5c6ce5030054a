//===- Create.cpp - Constants, weights, iota, dimensions as data --------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

LogicalResult ConstantOp::verify() {
  auto type = tensorType(getResult());
  if (auto name = dyn_cast<FlatSymbolRefAttr>(getValue())) {
    auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(*this, name);
    if (!weight)
      return emitOpError("names weight '") << name.getValue() << "', which does not exist";
    if (weight.getType() != type)
      return emitOpError("has type ")
             << type << ", but weight '" << name.getValue() << "' has type " << weight.getType();
    return success();
  }
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

LogicalResult ConstantOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  if (auto name = dyn_cast<FlatSymbolRefAttr>(getValue())) {
    const char *bytes = call.weight ? call.weight(name.getValue()) : nullptr;
    if (!bytes)
      return call.fail("weight '" + name.getValue() + "' has no bytes");
    call.outputs.push_back(fromBytes(type.getElementType(), *type.getConstantDims(), bytes));
    return success();
  }
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), *type.getConstantDims());
  auto elements = cast<DenseElementsAttr>(getValue());
  if (isFloat(type.getElementType())) {
    for (auto [i, value] : llvm::enumerate(elements.getValues<llvm::APFloat>())) {
      llvm::APFloat wide = value;
      bool lost;
      wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      out.reals[i] = wide.convertToDouble();
    }
    return success();
  }
  for (auto [i, value] : llvm::enumerate(elements.getValues<llvm::APInt>()))
    out.integers[i] =
        isUnsigned(type.getElementType()) ? int64_t(value.getZExtValue()) : value.getSExtValue();
  return success();
}

/// Inside a kernel only splats are left; everything else is an operand of the kernel.
Value ConstantOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue>) {
  auto elements = cast<DenseElementsAttr>(getValue());
  Type type = computeType(elementOf(getResult()));
  if (isa<FloatType>(type)) {
    llvm::APFloat value = elements.getSplatValue<llvm::APFloat>();
    bool lost;
    value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &lost);
    return e.constantData(type, FloatAttr::get(type, value));
  }
  return e.constantData(type, IntegerAttr::get(type, elements.getSplatValue<llvm::APInt>()));
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

Scalar FillOp::evaluateScalar(ArrayRef<Scalar>, const SymFacts *) {
  if (auto real = dyn_cast<FloatAttr>(getValue()))
    return Scalar::of(real.getValueAsDouble());
  llvm::APInt value = cast<IntegerAttr>(getValue()).getValue();
  return Scalar::of(isUnsigned(elementOf(getResult())) ? int64_t(value.getZExtValue())
                                                       : value.getSExtValue());
}

Value FillOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue>) {
  Type type = computeType(elementOf(getResult()));
  if (auto real = dyn_cast<FloatAttr>(getValue()))
    return e.constantData(type, FloatAttr::get(type, real.getValueAsDouble()));
  return e.constantData(type, IntegerAttr::get(type, cast<IntegerAttr>(getValue()).getValue()));
}

LogicalResult IotaOp::verify() {
  if (getDim() < 0 || getDim() >= tensorType(getResult()).getRank())
    return emitOpError("has no dimension ") << getDim();
  return success();
}

LogicalResult IotaOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  auto dims = call.dims(type);
  if (failed(dims))
    return failure();
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), *dims);
  int64_t inner = 1;
  for (int64_t dim : ArrayRef(*dims).drop_front(getDim() + 1))
    inner *= dim;
  for (int64_t i = 0, count = out.size(); i < count; ++i)
    out.set(i, Scalar::of(i / inner % (*dims)[getDim()]));
  return success();
}

Value IotaOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  return e.toData(index[getDim()], elementOf(getResult()));
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

LogicalResult DimsValueOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), *type.getConstantDims(),
                                             /*symbolic=*/!call.symbols);
  for (auto [i, expr] : llvm::enumerate(getValues().getDims())) {
    if (!call.symbols) {
      out.exprs[i] = expr;
      continue;
    }
    FailureOr<int64_t> value = call.value(expr);
    if (failed(value))
      return failure();
    out.integers[i] = *value;
  }
  return success();
}

Value DimsValueOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Value result = e.materialize(e.symbolic(getValues()[0]));
  for (unsigned i = 1; i < getValues().size(); ++i)
    result = e.builder().create<arith::SelectOp>(e.equal(index[0], e.constant(i)),
                                                 e.materialize(e.symbolic(getValues()[i])), result);
  return result;
}

} // namespace weft
