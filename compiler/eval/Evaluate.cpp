//===- Evaluate.cpp - Walks a function in order -----------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/eval/CallSymbols.h"
#include "compiler/eval/ElementRuns.h"
#include "compiler/eval/EvaluatePlan.h"
#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Aliases.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// Values are dropped after their last use, so that a deep model needs the memory of its widest
/// point.
class Evaluator {
public:
  Evaluator(func::FuncOp function, SymValues symbols, const EvaluateOptions &options)
      : symbols(symbolsOf(function), std::move(symbols)), options(options) {}

  llvm::Error run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (llvm::Error error = evaluate(op))
        return error;
    return llvm::Error::success();
  }

  llvm::Error evaluate(Operation &op) {
    llvm::Error error = evaluateAny(op);
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() == op.getBlock() && isLastUser(op, operand))
        values.erase(operand);
    return error;
  }

private:
  llvm::Error evaluateAny(Operation &op) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      return evaluateKernel(kernel);
    if (auto bind = dyn_cast<BindOp>(op))
      return symbols.set(bind.getSymbolAttr(), values[bind.getValue()]->at(0).integer, where(op));
    if (auto check = dyn_cast<CheckPositionsOp>(op))
      return checkPositions(*values[check.getPositions()], check.getSizes(), symbols.known(),
                            where(op));
    if (auto branch = dyn_cast<IfOp>(op))
      return evaluateIf(branch);
    if (auto loop = dyn_cast<LoopOp>(op))
      return evaluateLoop(loop);
    for (Type type : op.getResultTypes())
      if (llvm::Error error = refuseSize(cast<SymTensorType>(type), symbols.known()))
        return error;
    if (!isa<ReferenceOpInterface>(op))
      return fail("operator '" + op.getName().getStringRef() + "' has no reference semantics");
    ReferenceCall call;
    SmallVector<const RefTensor *> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(values[operand].get());
    call.inputs = inputs;
    call.symbols = &symbols.known();
    call.weight = options.weight;
    if (failed(evaluateReference(&op, call)))
      return fail(where(op) + "cannot be evaluated: " + call.error);
    if (options.observe)
      options.observe(&op, call.outputs);
    for (auto [result, tensor] : llvm::zip(op.getResults(), call.outputs))
      values[result] = std::make_shared<RefTensor>(std::move(tensor));
    return llvm::Error::success();
  }

  static bool isLastUser(Operation &op, Value operand) {
    return llvm::all_of(operand.getUsers(), [&](Operation *user) {
      Operation *here = op.getBlock()->findAncestorOpInBlock(*user);
      return here == &op || here->isBeforeInBlock(&op);
    });
  }

  /// Through a copy: making room for `to` may move what `from` has.
  void share(Value to, Value from) {
    std::shared_ptr<RefTensor> tensor = values.lookup(from);
    values[to] = std::move(tensor);
  }

  llvm::Error evaluateKernel(KernelOp kernel) {
    Block &body = kernel.getBody().front();
    for (auto [outside, inside] : llvm::zip(kernel.getInputs(), body.getArguments()))
      share(inside, outside);
    if (llvm::Error error = run(body))
      return error;
    for (auto [result, yielded] :
         llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
      share(result, yielded);
    return llvm::Error::success();
  }

  llvm::Error evaluateIf(IfOp branch) {
    Block &block =
        (values[branch.getCondition()]->at(0).integer ? branch.getYes() : branch.getNo()).front();
    if (llvm::Error error = run(block))
      return error;
    ValueRange yielded = block.getTerminator()->getOperands();
    for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
      share(result, value);
    for (auto [name, dim] : llvm::zip(branch.symbolsAfter(), branch.boundDims(yielded))) {
      FailureOr<int64_t> size = dim.evaluate(symbols.known());
      if (failed(size))
        return fail("'" + dim.str() + "' is not a size");
      if (llvm::Error error = symbols.set(name, *size, where(*branch)))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error evaluateLoop(LoopOp loop) {
    FailureOr<int64_t> trips = loop.getTrips()[0].evaluate(symbols.known());
    if (failed(trips))
      return fail("'" + loop.getTrips()[0].str() + "' is not a number of times");
    Block &body = loop.getBody().front();
    bool goOn = !loop.isConditional() || values[loop.getInits()[0]]->at(0).integer;
    std::vector<std::shared_ptr<RefTensor>> carried;
    for (Value init : loop.carriedInits())
      carried.push_back(values[init]);
    std::vector<std::vector<std::shared_ptr<RefTensor>>> stacks(loop.getNumResults() -
                                                                carried.size());
    int64_t count = 0;
    for (; goOn && count < *trips; ++count) {
      if (llvm::Error error = symbols.set(loop.getIndexAttr(), count, where(*loop)))
        return error;
      for (auto [argument, value] : llvm::zip(body.getArguments(), carried))
        values[argument] = value;
      if (llvm::Error error = run(body))
        return error;
      goOn = !loop.isConditional() || values[body.getTerminator()->getOperand(0)]->at(0).integer;
      for (auto [i, value] : llvm::enumerate(loop.yielded()))
        (i < carried.size() ? carried[i] : stacks[i - carried.size()].emplace_back()) =
            values[value];
    }
    symbols.forget(loop.getIndexAttr());
    if (loop.isConditional())
      if (llvm::Error error = symbols.set(loop.getCountAttr(), count, where(*loop)))
        return error;
    for (auto [i, value] : llvm::enumerate(carried))
      values[loop.getResult(i)] = value;
    for (auto [i, stack] : llvm::enumerate(stacks))
      if (llvm::Error error = pile(loop.getResult(carried.size() + i), stack))
        return error;
    return llvm::Error::success();
  }

  llvm::Error pile(Value result, ArrayRef<std::shared_ptr<RefTensor>> elements) {
    auto type = cast<SymTensorType>(result.getType());
    ReferenceCall call;
    call.symbols = &symbols.known();
    auto dims = call.dims(type);
    if (failed(dims))
      return fail(call.error);
    auto all = std::make_shared<RefTensor>(type.getElementType(), *dims);
    int64_t at = 0;
    for (const auto &element : elements)
      for (int64_t i = 0; i < element->size(); ++i)
        all->set(at++, element->at(i));
    values[result] = all;
    return llvm::Error::success();
  }

  static std::string where(Operation &op) {
    if (auto name = dyn_cast<NameLoc>(op.getLoc()))
      return name.getName().str() + ": ";
    return ("'" + op.getName().getStringRef() + "' ").str();
  }

public:
  llvm::DenseMap<Value, std::shared_ptr<RefTensor>> values;

private:
  CallSymbols symbols;
  const EvaluateOptions &options;
};

/// The buffer of an input with room: what callers see of it, and zeros.
llvm::Expected<RefTensor> withRoom(const RefTensor &seen, Type buffer, const SymValues &symbols) {
  llvm::Expected<DimValues> dims = dimsOf(cast<SymTensorType>(buffer), symbols);
  if (!dims)
    return dims.takeError();
  RefTensor whole(seen.element, *dims);
  scatterRuns(seen, runsOfBox(*dims, DimValues(dims->size(), 0), seen.dims), whole);
  return whole;
}

} // namespace

llvm::Expected<std::vector<RefTensor>> evaluateBody(func::FuncOp function,
                                                    std::vector<RefTensor> inputs,
                                                    const SymValues &symbols,
                                                    const EvaluateOptions &options) {
  Evaluator evaluator(function, symbols, options);
  for (auto [argument, input] : llvm::zip_equal(function.getArguments(), inputs))
    evaluator.values[argument] = std::make_shared<RefTensor>(std::move(input));
  Block &body = function.getBody().front();
  if (llvm::Error error = evaluator.run(body))
    return std::move(error);
  std::vector<RefTensor> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(*evaluator.values[result]);
  return results;
}

/// With the symbols of a call.
static llvm::Expected<std::vector<RefTensor>> evaluateGraph(func::FuncOp function,
                                                            ArrayRef<RefTensor> inputs,
                                                            const SymValues &symbols,
                                                            const EvaluateOptions &options) {
  std::vector<RefTensor> whole(inputs.begin(), inputs.end());
  for (auto [i, input] : llvm::enumerate(whole))
    if (function.getArgAttr(i, kViewAttr)) {
      llvm::Expected<RefTensor> buffer = withRoom(input, function.getArgumentTypes()[i], symbols);
      if (!buffer)
        return buffer.takeError();
      input = std::move(*buffer);
    }
  auto results = evaluateBody(function, std::move(whole), symbols, options);
  for (unsigned i = 0; results && i < results->size(); ++i)
    if (function.getResultAttr(i, kAliasesAttr)) {
      llvm::Expected<DimValues> seen = dimsOf(callersOutput(function, i), symbols);
      if (!seen)
        return seen.takeError();
      RefTensor &result = (*results)[i];
      ElementRuns runs = runsOfBox(result.dims, DimValues(seen->size(), 0), *seen);
      result = gatherRuns(result, runs, *seen);
    }
  return results;
}

llvm::Expected<std::vector<RefTensor>> evaluateFunction(FunctionOpInterface function,
                                                        ArrayRef<RefTensor> inputs,
                                                        const EvaluateOptions &options) {
  llvm::Expected<SymValues> symbols = bindInputs(function, inputs);
  if (!symbols)
    return symbols.takeError();
  if (auto planned = dyn_cast<plan::FuncOp>(*function))
    return evaluatePlan(planned, inputs, *symbols, options);
  return evaluateGraph(cast<func::FuncOp>(*function), inputs, *symbols, options);
}

} // namespace weft
