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
/// Lines in the type in which they are computed. Reductions go along the last dimension and are
/// given back with a 1 in its place.
struct LineMath {
  ImplicitLocOpBuilder &b;
  Type element;

  Value as(Type type, Value value) {
    return elementOf(value) == type ? value : Value(b.create<ConvertOp>(value, type));
  }
  Value wide(Value value) { return as(element, value); }
  Value reduce(CombinerKind kind, Value input) {
    auto type = tensorType(input);
    Value reduced = b.create<ReduceOp>(kind, input, ArrayRef<int64_t>{int64_t(type.getRank()) - 1});
    SmallVector<SymExpr> dims = type.getDims();
    dims.back() = SymExpr::constant(b.getContext(), 1);
    return b.create<ReshapeOp>(reduced, DimsAttr::get(b.getContext(), dims));
  }
  Value number(double value) {
    return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element),
                            floatAttribute(element, value));
  }
  /// The length of the lines as a number.
  Value length(Value input) {
    auto type = tensorType(input);
    auto scalar = SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getI64Type());
    return wide(b.create<DimsValueOp>(
        scalar, DimsAttr::get(b.getContext(), {type.getDim(type.getRank() - 1)})));
  }
};
} // namespace

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b) {
  LineMath m{b, computeType(elementOf(getInput()))};
  Value x = m.wide(getInput());
  Value shifted = b.create<SubOp>(x, m.reduce(CombinerKind::Max, x));
  Value powers = b.create<ExpOp>(shifted), sum = m.reduce(CombinerKind::Sum, powers);
  Value result = getLogarithm() ? Value(b.create<SubOp>(shifted, b.create<LogOp>(sum)))
                                : b.create<DivOp>(powers, sum);
  return {m.as(elementOf(getInput()), result)};
}

SmallVector<Value> NormalizeOp::decompose(ImplicitLocOpBuilder &b) {
  LineMath m{b, computeType(elementOf(getInput()))};
  Value x = m.wide(getInput()), n = m.length(x);
  if (getCenter())
    x = b.create<SubOp>(x, b.create<DivOp>(m.reduce(CombinerKind::Sum, x), n));
  Value variance = b.create<DivOp>(m.reduce(CombinerKind::Sum, b.create<MulOp>(x, x)), n);
  Value factor =
      b.create<RsqrtOp>(b.create<AddOp>(variance, m.number(getEpsilon().convertToDouble())));
  Value scaled = b.create<MulOp>(b.create<MulOp>(x, factor), m.wide(getScale()));
  return {m.as(elementOf(getInput()), b.create<AddOp>(scaled, m.wide(getShift())))};
}

} // namespace weft
