//===- GraphBuilder.cpp - Operations of the graph level, checked before they are made ---------===//

#include "compiler/import/onnx/graph/GraphBuilder.h"
#include "compiler/import/onnx/graph/AffineIndex.h"
#include <numeric>

using namespace mlir;

namespace weft::onnx {

/// More would overflow byte counts.
constexpr int64_t kMostElements = int64_t(1) << 48;

//===-- Refusals ------------------------------------------------------------------------------===//

FirstReport::FirstReport(MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        kept = kept.empty() ? diagnostic.str() : kept;
        return success();
      }) {}

Value GraphBuilder::refuse(const Twine &text, const Twine &hint) {
  if (!reason)
    reason = Refusal{Refusal::Unsupported, text.str(), hint.str()};
  return {};
}

Value GraphBuilder::wrong(const Twine &text, const Twine &hint) {
  if (!reason)
    reason = Refusal{Refusal::Wrong, text.str(), hint.str()};
  return {};
}

//===-- Expressions and types -----------------------------------------------------------------===//

SymExpr GraphBuilder::product(ArrayRef<SymExpr> dims) {
  SymExpr result = constant(1);
  for (SymExpr dim : dims)
    result = result * dim;
  return result;
}

SymTensorType GraphBuilder::type(ArrayRef<SymExpr> dims, Type element) {
  if (!element || !llvm::all_of(dims, [](SymExpr d) { return bool(d); }))
    return {};
  auto result = SymTensorType::get(context(), dimsAttr(dims).getDimAttributes(), element);
  return checkType(result) ? result : SymTensorType();
}

bool GraphBuilder::checkType(SymTensorType type) {
  if (type.getRank() > 8)
    refuse("a tensor of rank " + Twine(type.getRank()) + " is needed, but 8 is the most");
  for (SymExpr dim : type.getDims()) {
    std::optional<int64_t> size = dim.asConstant();
    if (dim.isOverflow() || (size && *size > kMaxSymbolValue))
      refuse("a dimension exceeds 2^31 - 1");
    else if (size && *size < 0)
      wrong("a dimension would be " + Twine(*size));
  }
  SymExpr elements = type.getElements();
  if (elements.isOverflow() || elements.asConstant().value_or(0) > kMostElements)
    refuse("a tensor has too many elements");
  return !refused();
}

bool GraphBuilder::requireEqual(SymExpr a, SymExpr b, const Twine &what) {
  if (refused())
    return false;
  if (a == b ||
      llvm::all_of(equalitiesOf(a, b), [&](const SymPred &pred) { return require(pred); }))
    return true;
  wrong(what + " is '" + a.str() + "', but must be '" + b.str() + "'");
  return false;
}

bool GraphBuilder::requireAtMost(SymExpr a, SymExpr b, const Twine &what) {
  if (refused())
    return false;
  if (require(atMostZero(a - b)))
    return true;
  wrong(what + ": '" + a.str() + "' exceeds '" + b.str() + "'");
  return false;
}

bool GraphBuilder::requireDifferent(SymExpr a, SymExpr b, const Twine &what) {
  if (refused())
    return false;
  if (require(SymPred::either({SymPred::le(a + 1, b), SymPred::le(b + 1, a)})))
    return true;
  wrong(what + " is '" + a.str() + "'");
  return false;
}

SymExpr GraphBuilder::smaller(SymExpr a, SymExpr b) {
  if (facts().proveLE(a, b) == Proof::Yes)
    return a;
  return facts().proveLE(b, a) == Proof::Yes ? b : SymExpr::min(a, b);
}

SymExpr GraphBuilder::larger(SymExpr a, SymExpr b) {
  if (facts().proveLE(a, b) == Proof::Yes)
    return b;
  return facts().proveLE(b, a) == Proof::Yes ? a : SymExpr::max(a, b);
}

Dims GraphBuilder::replaced(Value like, unsigned dim, SymExpr expr) {
  Dims dims = typeOf(like).getDims();
  dims[dim] = expr;
  return dims;
}

//===-- Creation ------------------------------------------------------------------------------===//

SmallVector<Value, 2> GraphBuilder::create(StringRef name, ValueRange operands,
                                           ArrayRef<NamedAttribute> attributes, TypeRange types) {
  for (Type type : types)
    if (!checkType(cast<SymTensorType>(type)))
      return {};
  OperationState operation(state.builder.getLoc(), name, operands, types, attributes);
  Operation *op = state.builder.create(operation);
  state.values.learn(op, facts());
  return SmallVector<Value, 2>(op->result_begin(), op->result_end());
}

Value GraphBuilder::fill(ArrayRef<SymExpr> dims, FillOp like) {
  return emitTyped<FillOp>(type(dims, elementOf(like)), {}, {attribute("value", like.getValue())});
}

Value GraphBuilder::fill(ArrayRef<SymExpr> dims, Type element, double value) {
  if (!element)
    return {};
  TypedAttr number;
  if (isFloat(element))
    number = floatAttribute(element, value);
  else
    number = IntegerAttr::get(element,
                              llvm::APInt(elementBits(element), uint64_t(int64_t(value)), true));
  return emitTyped<FillOp>(type(dims, element), {}, {attribute("value", number)});
}

Value GraphBuilder::constantTensor(const RefTensor &tensor) {
  if (refused())
    return {};
  Value value = createConstant(state.builder, tensor);
  state.values.learn(value.getDefiningOp(), facts());
  return value;
}

Value GraphBuilder::number(Type element, SymExpr expr) {
  if (std::optional<int64_t> value = expr.asConstant())
    return number(element, double(*value));
  Value data = emitTyped<DimsValueOp>(type({}, i64()), {}, {attribute("values", dimsAttr({expr}))});
  return convert(data, element);
}

Value GraphBuilder::dimsValue(ArrayRef<SymExpr> dims) {
  if (dims.empty())
    return fill(constant(0), i64(), 0);
  return emitTyped<DimsValueOp>(type({constant(dims.size())}, i64()), {},
                                {attribute("values", dimsAttr(dims))});
}

Value GraphBuilder::iota(ArrayRef<SymExpr> dims, unsigned dim, Type element) {
  return emitTyped<IotaOp>(type(dims, element), {},
                           {attribute("dim", state.builder.getI64IntegerAttr(dim))});
}

//===-- Elementwise ---------------------------------------------------------------------------===//

Value GraphBuilder::compare(CompareKind kind, Value a, Value b) {
  if (a && b && !isFloat(elementOf(a)))
    if (std::optional<bool> always = compareByPosition(*this, kind, a, b)) {
      Dims dims(typeOf(a).getDims());
      return mergeDims(dims, typeOf(b).getDims()) ? fill(dims, i1(), *always) : Value();
    }
  return binary<CompareOp>(a, b, attribute("kind", CompareKindAttr::get(context(), kind)));
}

Value GraphBuilder::select(Value condition, Value yes, Value no) {
  return elementwise<SelectOp>({condition, yes, no}, {});
}

Value GraphBuilder::convert(Value x, Type element) {
  if (!x || elementOf(x) == element)
    return x;
  if (!element)
    return {};
  return elementwise<ConvertOp>({x}, attribute("to", TypeAttr::get(element)));
}

Value GraphBuilder::activation(ActivationKind kind, Value x, double alpha, double beta) {
  return elementwise<ActivationOp>({x},
                                   {attribute("kind", ActivationKindAttr::get(context(), kind)),
                                    attribute("alpha", state.builder.getF64FloatAttr(alpha)),
                                    attribute("beta", state.builder.getF64FloatAttr(beta))});
}

//===-- Moves ---------------------------------------------------------------------------------===//

/// Two products without what both have, so that a requirement says only what matters.
static std::pair<SymExpr, SymExpr> withoutCommonFactors(SymExpr a, SymExpr b) {
  if (a.terms().size() != 1 || b.terms().size() != 1)
    return {a, b};
  auto divide = [&](SymExpr by) {
    SymExpr restA = SymExpr::floordiv(a, by), restB = SymExpr::floordiv(b, by);
    if (restA * by == a && restB * by == b)
      std::tie(a, b) = std::pair(restA, restB);
  };
  auto terms = a.terms();
  for (auto [factor, power] : terms[0].factors)
    for (unsigned i = 0; i < power; ++i)
      divide(factor);
  if (a.terms().size() == 1 && b.terms().size() == 1)
    divide(SymExpr::constant(a.getContext(),
                             std::gcd(a.terms()[0].coefficient, b.terms()[0].coefficient)));
  return {a, b};
}

Value GraphBuilder::reshape(Value x, ArrayRef<SymExpr> dims) {
  if (!x || refused() || !type(dims, elementOf(x)))
    return {};
  if (auto like = x.getDefiningOp<FillOp>(); like && typeOf(x).getElements() == product(dims))
    return fill(dims, like);
  SymExpr want = product(dims);
  if (auto earlier = x.getDefiningOp<ReshapeOp>(); earlier && typeOf(x).getElements() == want)
    x = earlier.getInput();
  if (Value moved = reshapeOfTranspose(x, dims))
    return moved;
  SymTensorType from = typeOf(x);
  if (from.getDims() == Dims(dims))
    return x;
  // A dimension that only differs in how it is written is written anew.
  for (unsigned d = from.getRank(); d-- > 0 && typeOf(x).getElements() != want;) {
    Dims others = replaced(x, d, constant(1));
    SymExpr rest = product(others);
    if (rest.isConstant(0))
      continue;
    SymExpr size = SymExpr::floordiv(want, rest);
    if (size * rest != want || facts().proveEqual(from.getDim(d), size) == Proof::No)
      continue;
    if (requireEqual(from.getDim(d), size, "dimension " + Twine(d)))
      x = refine(x, d, size);
  }
  if (!x || refused())
    return {};
  if (typeOf(x).getElements() != want) {
    auto [have, need] = withoutCommonFactors(from.getElements(), want);
    if (!requireEqual(have, need, "the number of elements"))
      return {};
    x = refine(reshape(x, from.getElements()), 0, want);
  }
  if (!x || refused())
    return {};
  return emit<ReshapeOp>({x}, attribute("dims", dimsAttr(dims)));
}

/// Dimensions that were merged, moved as one and are split again moved by themselves: a transpose.
Value GraphBuilder::reshapeOfTranspose(Value x, ArrayRef<SymExpr> dims) {
  auto transposed = x.getDefiningOp<TransposeOp>();
  auto merged = transposed ? transposed.getInput().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!merged || merged.getDims().size() > typeOf(merged.getInput()).getRank())
    return {};
  Value source = merged.getInput();
  SmallVector<SmallVector<int64_t>> groups; // of source dimensions, per merged one
  unsigned next = 0;
  for (SymExpr dim : merged.getDims().getDims()) {
    SmallVector<int64_t> &group = groups.emplace_back();
    SymExpr size = constant(1);
    while (next < rankOf(source) && (group.empty() || size != dim)) {
      size = size * typeOf(source).getDim(next);
      group.push_back(next++);
    }
    if (size != dim)
      return {};
  }
  if (next != rankOf(source))
    return {};
  SmallVector<int64_t> order;
  Dims result;
  for (int64_t from : transposed.getOrder())
    for (int64_t each : groups[from]) {
      order.push_back(each);
      result.push_back(typeOf(source).getDim(each));
    }
  return result == Dims(dims) ? transpose(source, order) : Value();
}

Value GraphBuilder::unsqueeze(Value x, ArrayRef<int64_t> positions) {
  if (!x)
    return {};
  Dims dims = typeOf(x).getDims();
  for (int64_t position : positions)
    dims.insert(dims.begin() + position, constant(1));
  return reshape(x, dims);
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> order) {
  if (!x)
    return {};
  SmallVector<int64_t> composed(order);
  if (auto earlier = x.getDefiningOp<TransposeOp>()) {
    for (int64_t &from : composed)
      from = earlier.getOrder()[from];
    x = earlier.getInput();
  }
  if (llvm::all_of(llvm::enumerate(composed),
                   [](auto each) { return int64_t(each.index()) == each.value(); }))
    return x;
  return emit<TransposeOp>({x}, attribute("order", state.builder.getDenseI64ArrayAttr(composed)));
}

Value GraphBuilder::moveDim(Value x, unsigned from, unsigned to) {
  if (!x)
    return {};
  SmallVector<int64_t> order;
  for (unsigned d = 0; d < rankOf(x); ++d)
    if (d != from)
      order.push_back(d);
  order.insert(order.begin() + to, from);
  return transpose(x, order);
}

Value GraphBuilder::slice(Value x, ArrayRef<SymExpr> starts, ArrayRef<SymExpr> sizes,
                          ArrayRef<int64_t> steps) {
  if (!x)
    return {};
  bool whole = typeOf(x).getDims() == Dims(sizes) &&
               llvm::all_of(steps, [](int64_t s) { return s == 1; }) &&
               llvm::all_of(starts, [](SymExpr s) { return s.isConstant(0); });
  if (whole)
    return x;
  return emit<SliceOp>({x},
                       {attribute("starts", dimsAttr(starts)), attribute("sizes", dimsAttr(sizes)),
                        attribute("steps", state.builder.getDenseI64ArrayAttr(steps))});
}

Value GraphBuilder::sliceDim(Value x, unsigned dim, SymExpr start, SymExpr size) {
  if (!x)
    return {};
  Dims starts(rankOf(x), constant(0));
  starts[dim] = start;
  return slice(x, starts, replaced(x, dim, size), SmallVector<int64_t>(rankOf(x), 1));
}

Value GraphBuilder::pad(Value x, Value value, ArrayRef<SymExpr> low, ArrayRef<SymExpr> high) {
  auto isZero = [](SymExpr e) { return e.isConstant(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  return emit<PadOp>({x, value},
                     {attribute("low", dimsAttr(low)), attribute("high", dimsAttr(high))});
}

Value GraphBuilder::concat(ArrayRef<Value> parts, unsigned dim) {
  SmallVector<Value> kept;
  for (Value part : parts) {
    if (!part)
      return {};
    if (rankOf(part) != rankOf(parts[0]) || elementOf(part) != elementOf(parts[0]))
      return wrong("the concatenated tensors have different ranks or element types");
    for (unsigned d = 0; d < rankOf(part); ++d) {
      SymExpr want = typeOf(parts[0]).getDim(d);
      if (d == dim || !requireEqual(typeOf(part).getDim(d), want,
                                    "dimension " + Twine(d) + " of a concatenated tensor"))
        continue;
      part = refine(part, d, want);
    }
    if (refused())
      return {};
    if (!typeOf(part).getDim(dim).isConstant(0))
      kept.push_back(part);
  }
  if (kept.size() <= 1)
    return kept.empty() ? parts[0] : kept[0];
  return emit<ConcatOp>(kept, attribute("dim", state.builder.getI64IntegerAttr(dim)));
}

NamedAttribute GraphBuilder::clamped() {
  return attribute("outside", OutsideAttr::get(context(), Outside::Clamped));
}

void GraphBuilder::requireInside(Value positions, SymExpr size) {
  if (positions && !refused())
    state.builder.create<CheckPositionsOp>(positions, DimsAttr::get(context(), {size}));
}

Value GraphBuilder::gather(Value x, Value indices, unsigned axis, Outside outside) {
  if (!x || !indices || refused())
    return {};
  if (Value read = gatherByPosition(*this, x, indices, axis); read || refused())
    return read;
  SmallVector<NamedAttribute> list{attribute("axis", state.builder.getI64IntegerAttr(axis))};
  if (outside == Outside::Clamped)
    list.push_back(clamped());
  return emit<GatherOp>({x, indices}, list);
}

Value GraphBuilder::refine(Value x, unsigned dim, SymExpr to) {
  if (!x || typeOf(x).getDim(dim) == to)
    return x;
  if (auto like = x.getDefiningOp<FillOp>())
    return fill(replaced(x, dim, to), like);
  return emit<ExpandOp>({x}, attribute("dims", dimsAttr(replaced(x, dim, to))));
}

//===-- Sums ----------------------------------------------------------------------------------===//

Value GraphBuilder::contract(StringRef rule, Value lhs, Value rhs, Type accumulate) {
  return emit<ContractOp>({lhs, rhs}, {attribute("rule", state.builder.getStringAttr(rule)),
                                       attribute("accumulate", TypeAttr::get(accumulate))});
}

Value GraphBuilder::reduce(CombinerKind kind, Value x, ArrayRef<int64_t> axes, bool keepDims) {
  if (!x || axes.empty())
    return x;
  Dims dims = typeOf(x).getDims();
  Value result = emit<ReduceOp>({x}, {attribute("kind", CombinerKindAttr::get(context(), kind)),
                                      attribute("axes", state.builder.getDenseI64ArrayAttr(axes))});
  return keepDims ? unsqueeze(result, axes) : result;
}

Value GraphBuilder::softmax(Value x, bool logarithm) {
  SmallVector<NamedAttribute> attributes;
  if (logarithm)
    attributes.push_back(attribute("logarithm", state.builder.getUnitAttr()));
  return emit<SoftmaxOp>({x}, attributes);
}

Value GraphBuilder::normalize(Value x, Value scale, Value shift, double epsilon, bool center) {
  return emit<NormalizeOp>({x, scale, shift},
                           {attribute("epsilon", state.builder.getF64FloatAttr(epsilon)),
                            attribute("center", state.builder.getBoolAttr(center))});
}

} // namespace weft::onnx
