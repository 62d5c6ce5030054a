//===- Create.cpp - Reference semantics of constants, iota, dimensions as data -----------------===//

#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/reference/Constant.h"

using namespace mlir;

namespace weft {

LogicalResult evaluateConstant(Attribute value, SymTensorType type, ReferenceCall &call) {
  if (auto name = dyn_cast<FlatSymbolRefAttr>(value)) {
    const char *bytes = call.weight ? call.weight(name.getValue()) : nullptr;
    if (!bytes)
      return call.fail("weight '" + name.getValue() + "' has no bytes");
    call.outputs.push_back(fromBytes(type.getElementType(), *type.getConstantDims(), bytes));
    return success();
  }
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), *type.getConstantDims());
  auto elements = cast<DenseElementsAttr>(value);
  if (isFloat(type.getElementType())) {
    for (auto [i, element] : llvm::enumerate(elements.getValues<llvm::APFloat>())) {
      llvm::APFloat wide = element;
      bool lost;
      wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      out.reals[i] = wide.convertToDouble();
    }
    return success();
  }
  for (auto [i, element] : llvm::enumerate(elements.getValues<llvm::APInt>()))
    out.integers[i] = isUnsigned(type.getElementType()) ? int64_t(element.getZExtValue())
                                                        : element.getSExtValue();
  return success();
}

LogicalResult ConstantOp::evaluate(ReferenceCall &call) {
  return evaluateConstant(getValue(), tensorType(getResult()), call);
}

Scalar FillOp::evaluateScalar(ArrayRef<Scalar>, const SymFacts *) {
  if (auto real = dyn_cast<FloatAttr>(getValue()))
    return Scalar::of(real.getValueAsDouble());
  llvm::APInt value = cast<IntegerAttr>(getValue()).getValue();
  return Scalar::of(isUnsigned(elementOf(getResult())) ? int64_t(value.getZExtValue())
                                                       : value.getSExtValue());
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

} // namespace weft
