//===- Normalize.cpp - softmax, normalize: types and decompositions ----------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

static LogicalResult requireFloat(StringRef name, std::optional<Location> location, Value input) {
  if (isFloat(elementOf(input)) && tensorType(input).getRank() > 0)
    return success();
  return emitOptionalError(location, "'weft.", name,
                           "' needs floating-point lines, but its operand is ", input.getType());
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return requireFloat("softmax", location, adaptor.getInput());
}

LogicalResult NormalizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(requireFloat("normalize", location, adaptor.getInput())) ||
      failed(inferDims("... d~, d, d -> ... d~", adaptor.getOperands().getTypes(), location,
                       "normalize")))
    return failure();
  results.push_back(adaptor.getInput().getType());
  return success();
}

RootKind SoftmaxOp::rootKind() { return RootKind::Row; }
RootKind NormalizeOp::rootKind() { return RootKind::Row; }

//===-- Decompositions ---------------------------------------------------------------------------===//

namespace {

/// Reductions along the last dimension, given back with a 1 in its place.
struct LineMath {
  ImplicitLocOpBuilder &b;
  Value reduce(CombinerKind kind, Value input) {
    auto type = tensorType(input);
    Value reduced = b.create<ReduceOp>(kind, input, ArrayRef<int64_t>{int64_t(type.getRank()) - 1});
    SmallVector<SymExpr> dims = type.getDims();
    dims.back() = SymExpr::constant(b.getContext(), 1);
    return b.create<ReshapeOp>(reduced, DimsAttr::get(b.getContext(), dims));
  }
  Value number(Value like, double value) {
    Type element = elementOf(like);
    return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element),
                            floatAttribute(element, value));
  }
  /// The length of the lines as a number.
  Value length(Value input) {
    auto type = tensorType(input);
    auto scalar = SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getI64Type());
    Value n = b.create<DimsValueOp>(
        scalar, DimsAttr::get(b.getContext(), {type.getDim(type.getRank() - 1)}));
    return b.create<ConvertOp>(n, type.getElementType());
  }
};

} // namespace

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b) {
  LineMath m{b};
  Value shifted = b.create<SubOp>(getInput(), m.reduce(CombinerKind::Max, getInput()));
  Value powers = b.create<ExpOp>(shifted);
  Value sum = m.reduce(CombinerKind::Sum, powers);
  if (getLogarithm())
    return {b.create<SubOp>(shifted, b.create<LogOp>(sum))};
  return {b.create<DivOp>(powers, sum)};
}

SmallVector<Value> NormalizeOp::decompose(ImplicitLocOpBuilder &b) {
  LineMath m{b};
  Value x = getInput(), n = m.length(x);
  if (getCenter())
    x = b.create<SubOp>(x, b.create<DivOp>(m.reduce(CombinerKind::Sum, x), n));
  Value variance = b.create<DivOp>(m.reduce(CombinerKind::Sum, b.create<MulOp>(x, x)), n);
  Value factor =
      b.create<RsqrtOp>(b.create<AddOp>(variance, m.number(x, getEpsilon().convertToDouble())));
  Value scaled = b.create<MulOp>(b.create<MulOp>(x, factor), getScale());
  return {b.create<AddOp>(scaled, getShift())};
}

} // namespace weft
