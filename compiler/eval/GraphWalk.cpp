//===- GraphWalk.cpp --------------------------------------------------------------------------===//

#include "compiler/eval/GraphWalk.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

std::string where(Operation &op) {
  if (auto name = dyn_cast<NameLoc>(op.getLoc()))
    return name.getName().str() + ": ";
  return ("'" + op.getName().getStringRef() + "' ").str();
}

bool isLastUser(Operation &op, Value operand) {
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    Operation *here = op.getBlock()->findAncestorOpInBlock(*user);
    return here == &op || here->isBeforeInBlock(&op);
  });
}

/// Tensors of all turns as one.
llvm::Expected<GraphWalk::Tensor> pile(SymTensorType type, ArrayRef<GraphWalk::Tensor> elements,
                                       const SymValues &symbols) {
  llvm::Expected<DimValues> dims = dimsOf(type, symbols);
  if (!dims)
    return dims.takeError();
  auto all = std::make_shared<RefTensor>(type.getElementType(), *dims);
  int64_t at = 0;
  for (const GraphWalk::Tensor &element : elements)
    for (int64_t i = 0; i < element->size(); ++i)
      all->set(at++, element->at(i));
  return all;
}

} // namespace

GraphWalk::GraphWalk(func::FuncOp function, std::vector<SymValues> symbols,
                     const EvaluateOptions &options)
    : options(options), exchange(meshOf(function), options) {
  for (SymValues &values : symbols)
    states.emplace_back(CallSymbols(symbolsOf(function), std::move(values)));
}

GraphWalk::Ranks GraphWalk::all() const {
  return llvm::to_vector(llvm::seq<unsigned>(0, states.size()));
}

llvm::Error GraphWalk::run(Block &block, const Ranks &ranks) {
  for (Operation &op : block.without_terminator()) {
    if (llvm::Error error = evaluate(op, ranks))
      return error;
    forget(op, ranks);
  }
  return llvm::Error::success();
}

/// Values are dropped after their last use, so that a deep model needs the memory of its widest
/// point.
void GraphWalk::forget(Operation &op, const Ranks &ranks) {
  for (Value operand : op.getOperands())
    if (operand.getParentBlock() == op.getBlock() && isLastUser(op, operand))
      for (unsigned rank : ranks)
        states[rank].values.erase(operand);
}

llvm::Error GraphWalk::evaluate(Operation &op, const Ranks &ranks) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return evaluateKernel(kernel, ranks);
  if (auto branch = dyn_cast<IfOp>(op))
    return evaluateIf(branch, ranks);
  if (auto loop = dyn_cast<LoopOp>(op))
    return evaluateLoop(loop, ranks);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return evaluateTogether(collective, ranks);
  for (unsigned rank : ranks)
    if (llvm::Error error = evaluateOn(op, rank))
      return error;
  return llvm::Error::success();
}

//===-- What a rank does alone ----------------------------------------------------------------===//

llvm::Error GraphWalk::evaluateOn(Operation &op, unsigned rank) {
  State &state = states[rank];
  if (auto bind = dyn_cast<BindOp>(op))
    return state.symbols.set(bind.getSymbolAttr(), state.values[bind.getValue()]->at(0).integer,
                             where(op));
  if (auto check = dyn_cast<CheckPositionsOp>(op))
    return checkPositions(*state.values[check.getPositions()], check.getSizes(),
                          state.symbols.known(), where(op));
  for (Type type : op.getResultTypes())
    if (llvm::Error error = refuseSize(cast<SymTensorType>(type), state.symbols.known()))
      return error;
  if (!isa<ReferenceOpInterface>(op))
    return fail("operator '" + op.getName().getStringRef() + "' has no reference semantics");
  return evaluateByReference(op, rank);
}

llvm::Error GraphWalk::evaluateByReference(Operation &op, unsigned rank) {
  State &state = states[rank];
  ReferenceCall call;
  SmallVector<const RefTensor *> inputs;
  for (Value operand : op.getOperands())
    inputs.push_back(state.values[operand].get());
  call.inputs = inputs;
  call.symbols = &state.symbols.known();
  call.weight = options.weight;
  if (failed(evaluateReference(&op, call)))
    return fail(where(op) + "cannot be evaluated: " + call.error);
  if (options.observe && rank == 0)
    options.observe(&op, call.outputs);
  for (auto [result, tensor] : llvm::zip(op.getResults(), call.outputs))
    set(result, rank, std::make_shared<RefTensor>(std::move(tensor)));
  return llvm::Error::success();
}

//===-- Regions -------------------------------------------------------------------------------===//

llvm::Error GraphWalk::evaluateKernel(KernelOp kernel, const Ranks &ranks) {
  Block &body = kernel.getBody().front();
  for (unsigned rank : ranks)
    for (auto [outside, inside] : llvm::zip(kernel.getInputs(), body.getArguments()))
      set(inside, rank, get(outside, rank));
  if (llvm::Error error = run(body, ranks))
    return error;
  for (unsigned rank : ranks)
    for (auto [result, yielded] :
         llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
      set(result, rank, get(yielded, rank));
  return llvm::Error::success();
}

llvm::Error GraphWalk::evaluateIf(IfOp branch, const Ranks &ranks) {
  for (bool way : {true, false}) {
    Ranks here = ranks;
    llvm::erase_if(here, [&](unsigned rank) {
      return bool(get(branch.getCondition(), rank)->at(0).integer) != way;
    });
    if (here.empty())
      continue;
    Block &block = (way ? branch.getYes() : branch.getNo()).front();
    if (llvm::Error error = run(block, here))
      return error;
    ValueRange yielded = block.getTerminator()->getOperands();
    for (unsigned rank : here) {
      for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
        set(result, rank, get(value, rank));
      CallSymbols &symbols = states[rank].symbols;
      for (auto [name, dim] : llvm::zip(branch.symbolsAfter(), branch.boundDims(yielded))) {
        FailureOr<int64_t> size = dim.evaluate(symbols.known());
        if (failed(size))
          return fail("'" + dim.str() + "' is not a size");
        if (llvm::Error error = symbols.set(name, *size, where(*branch)))
          return error;
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error GraphWalk::evaluateLoop(LoopOp loop, const Ranks &ranks) {
  llvm::DenseMap<unsigned, Turns> turns;
  for (unsigned rank : ranks) {
    llvm::Expected<Turns> begun = beginLoop(loop, states[rank]);
    if (!begun)
      return begun.takeError();
    turns.try_emplace(rank, std::move(*begun));
  }
  for (Ranks here = ranks;;) {
    llvm::erase_if(here, [&](unsigned rank) {
      const Turns &own = turns.find(rank)->second;
      return !own.goOn || own.count >= own.most;
    });
    if (here.empty())
      break;
    for (unsigned rank : here)
      if (llvm::Error error = beginTurn(loop, states[rank], turns.find(rank)->second))
        return error;
    if (llvm::Error error = run(loop.getBody().front(), here))
      return error;
    for (unsigned rank : here)
      endTurn(loop, states[rank], turns.find(rank)->second);
  }
  for (unsigned rank : ranks)
    if (llvm::Error error = endLoop(loop, states[rank], turns.find(rank)->second))
      return error;
  return llvm::Error::success();
}

llvm::Expected<GraphWalk::Turns> GraphWalk::beginLoop(LoopOp loop, State &state) {
  FailureOr<int64_t> most = loop.getTrips()[0].evaluate(state.symbols.known());
  if (failed(most))
    return fail("'" + loop.getTrips()[0].str() + "' is not a number of times");
  Turns turns;
  turns.most = *most;
  turns.goOn = !loop.isConditional() || state.values[loop.getInits()[0]]->at(0).integer;
  for (Value init : loop.carriedInits())
    turns.carried.push_back(state.values[init]);
  turns.stacks.resize(loop.getNumResults() - turns.carried.size());
  return turns;
}

llvm::Error GraphWalk::beginTurn(LoopOp loop, State &state, const Turns &turns) {
  for (auto [argument, value] : llvm::zip(loop.getBody().front().getArguments(), turns.carried))
    state.values[argument] = value;
  return state.symbols.set(loop.getIndexAttr(), turns.count, where(*loop));
}

void GraphWalk::endTurn(LoopOp loop, State &state, Turns &turns) {
  Operation *end = loop.getBody().front().getTerminator();
  ++turns.count;
  turns.goOn = !loop.isConditional() || state.values[end->getOperand(0)]->at(0).integer;
  size_t carried = turns.carried.size();
  for (auto [i, value] : llvm::enumerate(loop.yielded()))
    (i < carried ? turns.carried[i] : turns.stacks[i - carried].emplace_back()) =
        state.values[value];
}

llvm::Error GraphWalk::endLoop(LoopOp loop, State &state, Turns &turns) {
  state.symbols.forget(loop.getIndexAttr());
  if (loop.isConditional())
    if (llvm::Error error = state.symbols.set(loop.getCountAttr(), turns.count, where(*loop)))
      return error;
  for (auto [i, value] : llvm::enumerate(turns.carried))
    state.values[loop.getResult(i)] = value;
  for (auto [i, stack] : llvm::enumerate(turns.stacks)) {
    Value result = loop.getResult(turns.carried.size() + i);
    auto piled = pile(cast<SymTensorType>(result.getType()), stack, state.symbols.known());
    if (!piled)
      return piled.takeError();
    state.values[result] = *piled;
  }
  return llvm::Error::success();
}

//===-- What ranks do together ----------------------------------------------------------------===//

llvm::Error GraphWalk::evaluateTogether(CollectiveOpInterface op, const Ranks &ranks) {
  return exchange.run(
      op, ranks,
      {[&](unsigned rank) -> llvm::Expected<Tensor> { return get(op->getOperand(0), rank); },
       [&](unsigned rank) -> const SymValues & { return states[rank].symbols.known(); },
       [&](unsigned rank, RefTensor result) {
         set(op->getResult(0), rank, std::make_shared<RefTensor>(std::move(result)));
         return llvm::Error::success();
       }});
}

} // namespace weft
