//===- Move.cpp - Reshape, transpose, expand, slice, pad, concat --------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

static std::string braces(SymExpr expr) { return "{" + expr.str() + "}"; }
static std::string name(char prefix, size_t i) { return prefix + std::to_string(i); }

//===-- reshape ----------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  auto result = SymTensorType::get(input.getContext(), adaptor.getDims().getDimAttributes(),
                                   input.getElementType());
  if (input.getElements() != result.getElements()) // R1
    return emitOptionalError(location, "'weft.reshape' cannot make ", result, " of ", input, ": '",
                             input.getElements().str(), "' elements against '",
                             result.getElements().str(), "'");
  results.push_back(result);
  return success();
}

RootKind ReshapeOp::rootKind() { return RootKind::View; }

LogicalResult ReshapeOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  if (failed(dims))
    return failure();
  RefTensor &out = call.outputs.emplace_back(*call.inputs[0]);
  out.dims = *dims;
  return success();
}

namespace {
/// Trailing dimensions of both shapes with equal products.
struct ReshapeRun {
  unsigned resultFirst, resultEnd, inputFirst, inputEnd;
};
} // namespace

static SymExpr product(ArrayRef<SymExpr> dims, MLIRContext *context) {
  SymExpr result = SymExpr::constant(context, 1);
  for (SymExpr dim : dims)
    result = result * dim;
  return result;
}

/// Cuts both shapes into the smallest runs whose products are equal, from the right.
static SmallVector<ReshapeRun> matchRuns(SymTensorType result, SymTensorType input) {
  SmallVector<SymExpr> r = result.getDims(), i = input.getDims();
  SmallVector<ReshapeRun> runs;
  unsigned re = r.size(), ie = i.size();
  while (re > 0 || ie > 0) {
    bool found = false;
    for (unsigned total = 1; total <= re + ie && !found; ++total)
      for (unsigned a = total > ie ? total - ie : 0; a <= std::min(total, re) && !found; ++a) {
        unsigned c = total - a;
        if (product(ArrayRef(r).slice(re - a, a), result.getContext()) !=
            product(ArrayRef(i).slice(ie - c, c), result.getContext()))
          continue;
        runs.push_back({re - a, re, ie - c, ie});
        re -= a;
        ie -= c;
        found = true;
      }
    assert(found && "the whole shapes have equal products");
  }
  return runs;
}

Value ReshapeOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto result = tensorType(getResult()), input = tensorType(getInput());
  SmallVector<IndexValue> position(input.getRank());
  for (const ReshapeRun &run : matchRuns(result, input)) {
    IndexValue linear = e.constant(0);
    for (unsigned d = run.resultFirst; d < run.resultEnd; ++d)
      linear = d == run.resultFirst ? index[d]
                                    : e.add(e.mul(linear, e.symbolic(result.getDim(d))), index[d]);
    for (unsigned d = run.inputEnd; d-- > run.inputFirst;) {
      if (d == run.inputFirst) {
        position[d] = linear;
        break;
      }
      std::tie(linear, position[d]) = e.divmod(linear, e.symbolic(input.getDim(d)));
    }
  }
  return e.operand(0, position);
}

//===-- transpose --------------------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  SmallVector<bool> seen(input.getRank());
  SmallVector<SymExpr> dims;
  for (int64_t from : adaptor.getOrder()) {
    if (from < 0 || from >= input.getRank() || seen[from])
      return emitOptionalError(location, "'weft.transpose' order must name each of the ",
                               input.getRank(), " dimensions once");
    seen[from] = true;
    dims.push_back(input.getDim(from));
  }
  if (dims.size() != input.getRank())
    return emitOptionalError(location, "'weft.transpose' order must name each of the ",
                             input.getRank(), " dimensions once");
  results.push_back(SymTensorType::get(dims, input.getElementType()));
  return success();
}

std::string TransposeOp::ruleText() {
  std::string left, right;
  for (size_t i = 0; i < getOrder().size(); ++i) {
    left += name('a', i) + " ";
    right += name('a', getOrder()[i]) + " ";
  }
  return left + "-> " + right;
}

RootKind TransposeOp::rootKind() { return RootKind::View; }

//===-- expand -----------------------------------------------------------------------------------===//

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  auto result = SymTensorType::get(input.getContext(), adaptor.getDims().getDimAttributes(),
                                   input.getElementType());
  if (result.getRank() < input.getRank())
    return emitOptionalError(location, "'weft.expand' cannot remove dimensions: ", input, " to ",
                             result);
  unsigned shift = result.getRank() - input.getRank();
  for (unsigned d = 0; d < input.getRank(); ++d) {
    SymExpr from = input.getDim(d), to = result.getDim(d + shift);
    if (from != to && !from.isConstant(1) && from.asConstant() && to.asConstant())
      return emitOptionalError(location, "'weft.expand' cannot make dimension ", d, " of ", input,
                               " '", to.str(), "'");
  }
  results.push_back(result);
  return success();
}

std::string ExpandOp::ruleText() {
  auto input = tensorType(getInput()), result = tensorType(getResult());
  unsigned shift = result.getRank() - input.getRank();
  std::string left, right;
  for (unsigned d = 0; d < result.getRank(); ++d) {
    right += name('a', d) + " ";
    if (d >= shift) {
      SymExpr from = input.getDim(d - shift), to = result.getDim(d);
      left += from == to ? name('a', d) + " " : from.isConstant(1) ? "1 " : name('a', d) + "? ";
    }
  }
  return left + "-> " + right;
}

RootKind ExpandOp::rootKind() { return RootKind::View; }

//===-- slice ------------------------------------------------------------------------------------===//

constexpr int64_t kMostStep = int64_t(1)
                              << 62; ///< so that numbers read as 64 bits have not wrapped

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getStarts().size() != rank || adaptor.getSizes().size() != rank ||
      adaptor.getSteps().size() != rank)
    return emitOptionalError(location,
                             "'weft.slice' needs a start, a size and a step for each of the ", rank,
                             " dimensions");
  auto isPossible = [](int64_t step) {
    return step != 0 && step >= -kMostStep && step <= kMostStep;
  };
  if (!llvm::all_of(adaptor.getSteps(), isPossible))
    return emitOptionalError(location, "'weft.slice' steps must not be 0 nor beyond 2^62");
  results.push_back(SymTensorType::get(input.getContext(), adaptor.getSizes().getDimAttributes(),
                                       input.getElementType()));
  return success();
}

std::string SliceOp::ruleText() {
  std::string left, right;
  for (size_t d = 0; d < getSteps().size(); ++d) {
    left += std::to_string(getSteps()[d]) + "*" + name('a', d) + "+" + braces(getStarts()[d]) + " ";
    right += name('a', d) + " ";
  }
  return left + "-> " + right;
}

RootKind SliceOp::rootKind() { return RootKind::View; }

//===-- pad --------------------------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank)
    return emitOptionalError(location, "'weft.pad' needs two amounts for each of the ", rank,
                             " dimensions");
  if (tensorType(adaptor.getValue()).getRank() != 0 ||
      elementOf(adaptor.getValue()) != input.getElementType())
    return emitOptionalError(location, "'weft.pad' value must be one ", input.getElementType());
  SmallVector<SymExpr> dims;
  for (size_t d = 0; d < rank; ++d)
    dims.push_back(input.getDim(d) + adaptor.getLow()[d] + adaptor.getHigh()[d]);
  results.push_back(SymTensorType::get(input.getContext(),
                                       DimsAttr::get(input.getContext(), dims).getDimAttributes(),
                                       input.getElementType()));
  return success();
}

std::string PadOp::ruleText() {
  std::string left, right;
  for (size_t d = 0; d < getLow().size(); ++d) {
    left += name('a', d) + "-" + braces(getLow()[d]) + " ";
    right += name('a', d) + " ";
  }
  return left + ", -> " + right;
}

Value PadOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput());
  SmallVector<IndexValue> position;
  Value inside;
  auto &b = e.builder();
  for (auto [d, i] : llvm::enumerate(index)) {
    if (getLow()[d].isConstant(0) && getHigh()[d].isConstant(0)) {
      position.push_back(i);
      continue;
    }
    position.push_back(e.sub(i, e.symbolic(getLow()[d])));
    Value here = b.create<arith::AndIOp>(e.nonNegative(position.back()),
                                         e.less(position.back(), e.symbolic(input.getDim(d))));
    inside = inside ? b.create<arith::AndIOp>(inside, here) : here;
  }
  if (!inside)
    return e.operand(0, position);
  return e.guarded(
      inside, [&] { return e.operand(0, position); }, e.operand(1, {}));
}

LogicalResult PadOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  auto dims = call.dims(type);
  if (failed(dims))
    return failure();
  const RefTensor &in = *call.inputs[0];
  SmallVector<int64_t> low;
  for (SymExpr amount : getLow().getDims()) {
    FailureOr<int64_t> value = call.value(amount);
    if (failed(value))
      return failure();
    low.push_back(*value);
  }
  RefTensor &out =
      call.outputs.emplace_back(type.getElementType(), *dims, in.kind == Scalar::Symbolic);
  for (int64_t i = 0, count = out.size(); i < count; ++i) {
    int64_t rest = i, at = 0, stride = 1;
    bool inside = true;
    for (size_t d = dims->size(); d-- > 0; rest /= (*dims)[d]) {
      int64_t index = rest % (*dims)[d] - low[d];
      inside &= index >= 0 && index < in.dims[d];
      at += index * stride;
      stride *= in.dims[d];
    }
    out.set(i, inside ? in.at(at) : call.inputs[1]->at(0));
  }
  return success();
}

//===-- concat -----------------------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "'weft.concat' needs at least one operand");
  auto first = tensorType(adaptor.getInputs()[0]);
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(location, "'weft.concat' has no dimension ", dim, " in ", first);
  SmallVector<SymExpr> dims = first.getDims();
  for (auto [i, input] : llvm::enumerate(adaptor.getInputs().drop_front())) {
    auto type = tensorType(input);
    if (type.getRank() != first.getRank() || type.getElementType() != first.getElementType())
      return emitOptionalError(location, "'weft.concat' operands must agree, but operand 0 is ",
                               first, " and operand ", i + 1, " is ", type);
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (d != dim && type.getDim(d) != first.getDim(d))
        return emitOptionalError(location, "'weft.concat': dimension ", d, " of operand ", i + 1,
                                 " is '", type.getDim(d).str(), "', but must be '",
                                 first.getDim(d).str(), "'");
    dims[dim] = dims[dim] + type.getDim(dim);
  }
  results.push_back(SymTensorType::get(dims, first.getElementType()));
  return success();
}

LogicalResult ConcatOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  SmallVector<int64_t, 4> dims = call.inputs[0]->dims;
  bool symbolic = false;
  dims[getDim()] = 0;
  for (const RefTensor *input : call.inputs) {
    dims[getDim()] += input->dims[getDim()];
    symbolic |= input->kind == Scalar::Symbolic;
  }
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), dims, symbolic);
  int64_t outer = 1, inner = 1;
  for (auto [d, dim] : llvm::enumerate(dims))
    (d < getDim() ? outer : inner) *= d == getDim() ? 1 : dim;
  int64_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const RefTensor *input : call.inputs)
      for (int64_t i = 0, run = input->dims[getDim()] * inner; i < run; ++i)
        out.set(at++, input->at(o * run + i));
  return success();
}

/// Operand by operand from the last to the first: each reads only where the index falls into its segment.
Value ConcatOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  SmallVector<SymExpr> starts;
  SymExpr start = SymExpr::constant(getContext(), 0);
  for (Value input : getInputs()) {
    starts.push_back(start);
    start = start + tensorType(input).getDim(getDim());
  }
  SmallVector<IndexValue> position(index);
  Type type = computeType(elementOf(getResult()));
  TypedAttr zero =
      isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, 0.0)) : IntegerAttr::get(type, 0);
  Value result = e.constantData(type, zero);
  auto &b = e.builder();
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    position[getDim()] = e.sub(index[getDim()], e.symbolic(starts[i]));
    Value inside = b.create<arith::AndIOp>(
        e.nonNegative(position[getDim()]),
        e.less(position[getDim()], e.symbolic(tensorType(input).getDim(getDim()))));
    result = e.guarded(
        inside, [&, i = i] { return e.operand(i, position); }, result);
  }
  return result;
}

} // namespace weft
