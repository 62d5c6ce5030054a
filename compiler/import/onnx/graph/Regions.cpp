//===- Regions.cpp - Loops and branches that run time decides ---------------------------------===//
//
// Result types are known only when the regions are: they are built in an operation without results,
// whose place the real one then takes.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/graph/GraphBuilder.h"
#include "compiler/import/onnx/graph/Sequences.h"

using namespace mlir;

namespace weft::onnx {

SymExpr GraphBuilder::bindSymbol(Value value, StringRef wish, SymExpr limit) {
  if (!value || refused())
    return {};
  if (!typeOf(value).getElements().isConstant(1))
    return wrong("one number is needed, but the tensor has other dimensions"), SymExpr();
  if (!elementOf(value).isInteger(64))
    value = convert(value, i64());
  if (!value)
    return {};
  SymExpr symbol = state.contract.bindSymbol(wish, limit);
  state.builder.create<BindOp>(symbol.asSymbol(), value);
  return symbol;
}

/// A branch need not run. What only it needs is asked of a copy of a symbol, which has a value there.
bool GraphBuilder::require(const SymPred &pred) {
  auto inside = [&](StringAttr name) {
    return llvm::is_contained(
        state.contract.boundSymbols().drop_front(*state.contract.boundBeforeBranch), name);
  };
  if (!state.contract.boundBeforeBranch || llvm::any_of(pred.symbols(), inside) ||
      facts().prove(pred) != Proof::Unknown)
    return state.contract.require(pred, place);
  SymMap copy;
  copy[pred.symbols().front()] = copyInBranch(pred.symbols().front());
  return state.contract.require(pred.substitute(copy), place);
}

SymExpr GraphBuilder::copyInBranch(StringAttr symbol) {
  Block *here = state.builder.getInsertionBlock();
  for (const BoundSize &each : state.branchCopies)
    if (each.meaning == symbol.getValue() && each.block == here)
      return each.symbol;
  SymExpr copy = bindSymbol(number(i64(), SymExpr::symbol(symbol)), symbol.getValue(), {});
  state.branchCopies.push_back({symbol.str(), here, copy});
  return copy;
}

/// An operand's dimensions written like another's; refused when they cannot be equal.
static Value fitTo(GraphBuilder &g, Value value, SymTensorType type, const Twine &what) {
  if (!value || g.refused())
    return {};
  if (elementOf(value) != type.getElementType())
    return g.wrong(what + " has elements of another type than before");
  if (rankOf(value) != type.getRank())
    return g.refuse(what + " changes its rank, which is not supported");
  for (unsigned d = 0; d < type.getRank(); ++d) {
    SymExpr have = typeOf(value).getDim(d), want = type.getDim(d);
    if (have == want)
      continue;
    if (g.facts().proveEqual(have, want) == Proof::No)
      return g.refuse(what + " changes its dimension " + Twine(d) + " from '" + want.str() +
                      "' to '" + have.str() + "', which is not supported");
    if (!g.requireEqual(have, want, what + ", dimension " + Twine(d)))
      return {};
    value = g.refine(value, d, want);
  }
  return value;
}

/// What a loop stacks has the same size in every turn: that of the first.
static Value fitStacked(GraphBuilder &g, Value value, SymExpr index, ArrayRef<StringAttr> inside) {
  if (!value)
    return {};
  SymMap first;
  first[index.asSymbol()] = g.constant(0);
  for (unsigned d = 0; d < rankOf(value); ++d) {
    SymExpr have = typeOf(value).getDim(d), want = g.simplify(have.substitute(first));
    for (StringAttr name : want.symbols())
      if (llvm::is_contained(inside, name))
        return g.refuse("a loop stacks values whose dimension " + Twine(d) + " is '" + want.str() +
                        "', which is known only inside it");
    if (have == want)
      continue;
    if (!g.requireEqual(have, want, "dimension " + Twine(d) + " of what the loop stacks"))
      return {};
    value = g.refine(value, d, want);
  }
  return value;
}

/// What comes out of a region is memory.
static bool areTensors(GraphBuilder &g, ArrayRef<Value> yielded) {
  for (auto [i, value] : llvm::enumerate(yielded))
    if (value && !isTensor(value))
      return g.refuse("output " + Twine(i) + " of a loop or branch that run time decides is " +
                      kindOf(value) + ", which is not supported"),
             false;
  return true;
}

SmallVector<Value> GraphBuilder::loop(SymExpr trips, Value begin, ArrayRef<Value> inits,
                                      LoopFiller fill) {
  if (refused() || !trips || llvm::is_contained(inits, Value()))
    return {};
  ImplicitLocOpBuilder &b = state.builder;
  Location here = b.getLoc();
  SymExpr index = state.contract.bindSymbol("i", trips);
  size_t outside = state.contract.boundSymbols().size();
  auto draft = b.create<LoopOp>(TypeRange(), index.asSymbol(), dimsAttr({trips}), ValueRange(),
                                StringAttr());
  Block *block = b.createBlock(&draft.getBody());
  for (Value init : inits)
    block->addArgument(init.getType(), init.getLoc());
  LoopBody body;
  ++state.contract.regions;
  bool complete = fill(index, block->getArguments(), body) && body.yielded.size() >= inits.size() &&
                  areTensors(*this, body.yielded) && (!body.goOn || areTensors(*this, body.goOn));
  b.setLoc(here);
  for (size_t i = 0; complete && i < body.yielded.size(); ++i)
    body.yielded[i] =
        i < inits.size()
            ? fitTo(*this, body.yielded[i], typeOf(inits[i]), "carried value " + Twine(i))
            : fitStacked(*this, body.yielded[i], index,
                         state.contract.boundSymbols().drop_front(outside));
  bool conditional = body.goOn || begin;
  if (conditional && !body.goOn)
    body.goOn = number(i1(), 1.0);
  if (conditional)
    body.goOn = reshape(body.goOn, {});
  --state.contract.regions;
  complete &= !refused() && !llvm::is_contained(body.yielded, Value());
  SmallVector<Value> yielded(body.yielded), operands(inits);
  if (conditional)
    yielded.insert(yielded.begin(), body.goOn);
  if (complete)
    b.create<YieldOp>(yielded);
  b.setInsertionPointAfter(draft);
  if (conditional)
    operands.insert(operands.begin(), begin ? reshape(begin, {}) : number(i1(), 1.0));
  if (!complete || refused())
    return {};
  bool limited = trips.asConstant() != kMaxSymbolValue;
  SymExpr times =
      conditional ? state.contract.bindSymbol("trips", limited ? trips : SymExpr()) : trips;
  SmallVector<Type> types;
  for (auto [i, value] : llvm::enumerate(body.yielded)) {
    Dims dims(typeOf(value).getDims());
    if (i >= inits.size())
      dims.insert(dims.begin(), times);
    types.push_back(type(dims, elementOf(value)));
    if (!types.back())
      return {};
  }
  auto done = b.create<LoopOp>(types, index.asSymbol(), dimsAttr({trips}), operands,
                               conditional ? times.asSymbol() : StringAttr());
  done.getBody().takeBody(draft.getBody());
  draft.erase();
  return SmallVector<Value>(done.getResults().begin(), done.getResults().end());
}

SmallVector<Value> GraphBuilder::branch(Value condition, BranchFiller fill) {
  if (refused() || !condition)
    return {};
  ImplicitLocOpBuilder &b = state.builder;
  Location here = b.getLoc();
  condition = reshape(condition, {});
  if (!condition)
    return {};
  auto draft = b.create<IfOp>(TypeRange(), condition, b.getStrArrayAttr({}));
  SmallVector<Value> yielded[2];
  bool complete = true;
  ++state.contract.regions;
  std::optional<size_t> around = state.contract.boundBeforeBranch;
  for (bool yes : {true, false}) {
    state.contract.boundBeforeBranch = state.contract.boundSymbols().size();
    b.createBlock(yes ? &draft.getYes() : &draft.getNo());
    complete &= fill(yes, yielded[yes]) && areTensors(*this, yielded[yes]);
  }
  state.contract.boundBeforeBranch = around;
  --state.contract.regions;
  b.setLoc(here);
  complete &= !refused() && yielded[0].size() == yielded[1].size();
  SmallVector<Type> types;
  SmallVector<Attribute> binds;
  SmallVector<std::tuple<SymExpr, SymExpr, SymExpr>> bound;
  for (size_t i = 0; complete && i < yielded[0].size(); ++i) {
    Value no = yielded[0][i], yes = yielded[1][i];
    if (!no || !yes)
      return {};
    if (elementOf(no) != elementOf(yes))
      return wrong("the branches give other element types for output " + Twine(i)),
             SmallVector<Value>();
    if (rankOf(no) != rankOf(yes))
      return refuse("the branches give other ranks for output " + Twine(i) +
                    ", and the contents of tensors decide between them"),
             SmallVector<Value>();
    Dims dims;
    for (auto [a, c] : llvm::zip(typeOf(no).getDims(), typeOf(yes).getDims())) {
      auto known = llvm::find_if(bound, [&, a = a, c = c](auto &each) {
        return std::get<0>(each) == a && std::get<1>(each) == c;
      });
      if (a == c) {
        dims.push_back(a);
      } else if (known != bound.end()) {
        dims.push_back(std::get<2>(*known));
      } else {
        SymExpr limit = state.contract.attribute().getUpperBound(SymExpr::max(a, c));
        dims.push_back(state.contract.bindSymbol("u", limit));
        binds.push_back(dims.back().asSymbol());
        bound.push_back({a, c, dims.back()});
      }
    }
    types.push_back(type(dims, elementOf(no)));
  }
  for (bool yes : {true, false}) {
    b.setInsertionPointToEnd(yes ? &draft.getYes().front() : &draft.getNo().front());
    if (complete)
      b.create<YieldOp>(yielded[yes]);
  }
  b.setInsertionPointAfter(draft);
  if (!complete || refused())
    return {};
  auto done = b.create<IfOp>(types, condition, b.getArrayAttr(binds));
  done.getYes().takeBody(draft.getYes());
  done.getNo().takeBody(draft.getNo());
  draft.erase();
  return SmallVector<Value>(done.getResults().begin(), done.getResults().end());
}

} // namespace weft::onnx
