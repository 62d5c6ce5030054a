//===- Broadcasting.cpp - Dimensions that are equal, or one of them 1 -------------------------===//
//
// Where it is not known which of the two holds, the common size is written bcast(a, b), and that one
// of them holds becomes part of the contract. Later nodes may need more (a product needs its summed
// dimensions equal): then the next pass over the model knows it and writes the size plainly.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/graph/GraphBuilder.h"

using namespace mlir;

namespace weft::onnx {

/// The better way to write two equal expressions.
static SymExpr simpler(SymExpr a, SymExpr b) {
  auto cost = [](SymExpr e) { return e.asConstant() ? 0 : e.asSymbol() ? 1 : 2 + e.str().size(); };
  return cost(b) < cost(a) ? b : a;
}

bool GraphBuilder::canRepeat(SymExpr dim, SymExpr other) {
  SymPred one = SymPred::equal(dim, constant(1));
  return facts().prove(one) != Proof::No &&
         facts().with(one).prove(equalityOf(dim, other)) != Proof::Yes;
}

bool GraphBuilder::requireCompatible(SymExpr a, SymExpr b) {
  SmallVector<SymPred, 2> ones;
  for (auto [dim, other] : {std::pair(a, b), std::pair(b, a)})
    if (canRepeat(dim, other))
      ones.push_back(SymPred::equal(dim, constant(1)));
  return requireEqualOr(a, b, ones);
}

bool GraphBuilder::requireEqualOr(SymExpr a, SymExpr b, ArrayRef<SymPred> ways) {
  if (facts().proveEqual(a, b) == Proof::No)
    return !ways.empty() && require(SymPred::either(ways));
  return llvm::all_of(equalitiesOf(a, b), [&](const SymPred &equal) {
    return require(SymPred::either({equal, SymPred::either(ways)}));
  });
}

std::optional<SymExpr> GraphBuilder::mergeDim(SymExpr a, SymExpr b) {
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  for (SymExpr x : broadcastParts(a))
    for (SymExpr y : broadcastParts(b))
      if (x != y && !requireCompatible(x, y))
        return std::nullopt;
  bool firstRepeats = canRepeat(a, b), secondRepeats = canRepeat(b, a);
  if (firstRepeats && secondRepeats)
    return SymExpr::bcast(a, b);
  return firstRepeats ? b : secondRepeats ? a : simpler(a, b);
}

/// Each part of `dim` is that size or 1.
bool GraphBuilder::fitDim(SymExpr dim, SymExpr want) {
  for (SymExpr part : broadcastParts(dim)) {
    if (part == want || part.isConstant(1))
      continue;
    SmallVector<SymPred, 1> one;
    if (canRepeat(part, want))
      one.push_back(SymPred::equal(part, constant(1)));
    if (!requireEqualOr(part, want, one))
      return false;
  }
  return true;
}

bool GraphBuilder::mergeDims(Dims &result, ArrayRef<SymExpr> next) {
  if (next.size() > result.size())
    result.insert(result.begin(), next.size() - result.size(), constant(1));
  for (size_t i = 0; i < next.size(); ++i) {
    SymExpr &dim = result[result.size() - 1 - i], other = next[next.size() - 1 - i];
    std::optional<SymExpr> merged = mergeDim(dim, other);
    if (!merged) {
      wrong("dimensions '" + dim.str() + "' and '" + other.str() +
            "' cannot be broadcast together");
      return false;
    }
    dim = *merged;
  }
  return true;
}

/// Writes the dimensions of `x` that are not literal 1s as in `result`.
Value GraphBuilder::applyDims(Value x, ArrayRef<SymExpr> result) {
  Dims dims = typeOf(x).getDims();
  ArrayRef<SymExpr> aligned = result.take_back(dims.size());
  for (auto [dim, want] : llvm::zip(dims, aligned))
    if (!dim.isConstant(1))
      dim = want;
  if (dims == typeOf(x).getDims())
    return x;
  if (auto like = x.getDefiningOp<FillOp>())
    return fill(dims, like);
  return emit<ExpandOp>({x}, attribute("dims", dimsAttr(dims)));
}

bool GraphBuilder::broadcast(MutableArrayRef<Value> operands, Dims &result) {
  if (refused() || !llvm::all_of(operands, [](Value v) { return bool(v); }))
    return false;
  result = typeOf(operands[0]).getDims();
  for (Value operand : operands.drop_front())
    if (!mergeDims(result, typeOf(operand).getDims()))
      return false;
  for (Value &operand : operands) {
    operand = applyDims(operand, result);
    if (operand)
      operand = withoutRepeats(operand);
  }
  return !refused();
}

/// The operand of an expansion that only repeats literal 1s: elementwise operators repeat by
/// themselves, and those before the repetition compute less.
Value GraphBuilder::withoutRepeats(Value x) {
  auto expand = x.getDefiningOp<ExpandOp>();
  if (!expand)
    return x;
  Value input = expand.getInput();
  unsigned shift = rankOf(x) - rankOf(input);
  for (unsigned d = 0; d < rankOf(input); ++d) {
    SymExpr dim = typeOf(input).getDim(d);
    if (!dim.isConstant(1) && dim != typeOf(x).getDim(d + shift))
      return x;
  }
  return input;
}

/// The transpose among operands that are otherwise single numbers: it can follow the operator, where
/// contractions take it into their rule.
TransposeOp GraphBuilder::soleTranspose(ArrayRef<Value> operands) {
  TransposeOp found;
  for (Value operand : operands) {
    bool single =
        llvm::all_of(typeOf(operand).getDims(), [](SymExpr d) { return d.isConstant(1); });
    auto transposed = operand.getDefiningOp<TransposeOp>();
    if (transposed && !single && (!found || found == transposed))
      found = transposed;
    else if (!single)
      return {};
  }
  for (Value operand : operands) // single numbers of higher rank would add dimensions
    if (found && rankOf(operand) > rankOf(found.getResult()))
      return {};
  return found;
}

Value GraphBuilder::repeatTo(Value x, const Dims &dims) {
  if (!x || typeOf(x).getDims() == dims)
    return x;
  if (auto like = x.getDefiningOp<FillOp>())
    return fill(dims, like);
  return emit<ExpandOp>({x}, attribute("dims", dimsAttr(dims)));
}

Value GraphBuilder::expandTo(Value x, ArrayRef<SymExpr> dims) {
  if (!x || refused() || !type(dims, elementOf(x)))
    return {};
  if (rankOf(x) > dims.size())
    return wrong("a tensor of rank " + Twine(rankOf(x)) + " cannot be broadcast to rank " +
                 Twine(dims.size()));
  for (auto [dim, want] : llvm::zip(typeOf(x).getDims(), dims.take_back(rankOf(x))))
    if (!fitDim(dim, want))
      return wrong("dimension '" + dim.str() + "' cannot be broadcast to '" + want.str() + "'");
  return repeatTo(x, Dims(dims));
}

Value GraphBuilder::expandWith(Value x, ArrayRef<SymExpr> dims) {
  if (!x || refused())
    return {};
  Dims result = typeOf(x).getDims();
  return mergeDims(result, dims) && type(result, elementOf(x)) ? repeatTo(x, result) : Value();
}

} // namespace weft::onnx
