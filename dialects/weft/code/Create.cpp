//===- Create.cpp - Code of constants, iota, dimensions as data --------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

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

Value FillOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue>) {
  Type type = computeType(elementOf(getResult()));
  if (auto real = dyn_cast<FloatAttr>(getValue()))
    return e.constantData(type, FloatAttr::get(type, real.getValueAsDouble()));
  return e.constantData(type, IntegerAttr::get(type, cast<IntegerAttr>(getValue()).getValue()));
}

Value IotaOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  return e.toData(index[getDim()], elementOf(getResult()));
}

Value DimsValueOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Value result = e.materialize(e.symbolic(getValues()[0]));
  for (unsigned i = 1; i < getValues().size(); ++i)
    result = e.builder().create<arith::SelectOp>(e.equal(index[0], e.constant(i)),
                                                 e.materialize(e.symbolic(getValues()[i])), result);
  return result;
}

} // namespace weft
