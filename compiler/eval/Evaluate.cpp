//===- Evaluate.cpp - Walks a function in order -----------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/model/EntryPlan.h"

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
  Evaluator(SymValues symbols, const EvaluateOptions &options)
      : symbols(std::move(symbols)), options(options) {}

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
      return setSymbol(op, bind.getSymbolAttr(), values[bind.getValue()]->at(0).integer);
    if (auto check = dyn_cast<CheckPositionsOp>(op))
      return evaluateCheck(check);
    if (auto branch = dyn_cast<IfOp>(op))
      return evaluateIf(branch);
    if (auto loop = dyn_cast<LoopOp>(op))
      return evaluateLoop(loop);
    for (Type type : op.getResultTypes())
      if (llvm::Error error = refuseSize(cast<SymTensorType>(type)))
        return error;
    if (!isa<ReferenceOpInterface>(op))
      return fail("operator '" + op.getName().getStringRef() + "' has no reference semantics");
    ReferenceCall call;
    SmallVector<const RefTensor *> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(values[operand].get());
    call.inputs = inputs;
    call.symbols = &symbols;
    call.weight = options.weight;
    if (failed(evaluateReference(&op, call)))
      return fail(where(op) + "cannot be evaluated: " + call.error);
    if (options.observe)
      options.observe(&op, call.outputs);
    for (auto [result, tensor] : llvm::zip(op.getResults(), call.outputs))
      values[result] = std::make_shared<RefTensor>(std::move(tensor));
    return llvm::Error::success();
  }

  llvm::Error evaluateCheck(CheckPositionsOp check) {
    SmallVector<int64_t> sizes;
    for (SymExpr size : check.getSizes().getDims()) {
      FailureOr<int64_t> value = size.evaluate(symbols);
      if (failed(value))
        return fail("'" + size.str() + "' is not a size");
      sizes.push_back(*value);
    }
    std::string why = describeOutside(*values[check.getPositions()], sizes);
    return why.empty() ? llvm::Error::success() : fail(where(*check) + why);
  }

  /// As compiled programs do, before integers wrap; less than that is the machine's memory.
  llvm::Error refuseSize(SymTensorType type) {
    double bytes = 8;
    for (SymExpr dim : type.getDims()) {
      FailureOr<int64_t> size = dim.evaluate(symbols);
      bytes *= succeeded(size) ? double(*size) : 1; // an operator says what fails
    }
    if (bytes < 4.0e18)
      return llvm::Error::success();
    return fail("this call needs a tensor of more than 2^62 bytes");
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

  /// Every fact all of whose symbols have values now must hold.
  llvm::Error setSymbol(Operation &op, StringAttr name, int64_t value) {
    if (value < 0 || value > kMaxSymbolValue)
      return fail(where(op) + "'" + name.getValue() +
                  "', which the contents of tensors decide, is " + Twine(value) +
                  (value < 0 ? "" : ", but sizes are at most " + Twine(kMaxSymbolValue)).str());
    symbols[name] = value;
    SymbolsAttr declared = symbolsOf(op.getParentOfType<func::FuncOp>());
    for (const SymPred &fact : declared.getFacts()) {
      if (!llvm::is_contained(fact.symbols(), name))
        continue;
      FailureOr<bool> holds = fact.evaluate(symbols);
      if (succeeded(holds) && !*holds)
        return fail("'" + fact.str() + "' does not hold with '" + name.getValue() +
                    "' = " + Twine(value));
    }
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
      FailureOr<int64_t> size = dim.evaluate(symbols);
      if (failed(size))
        return fail("'" + dim.str() + "' is not a size");
      if (llvm::Error error = setSymbol(*branch, name, *size))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error evaluateLoop(LoopOp loop) {
    FailureOr<int64_t> trips = loop.getTrips()[0].evaluate(symbols);
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
      if (llvm::Error error = setSymbol(*loop, loop.getIndexAttr(), count))
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
    symbols.erase(loop.getIndexAttr());
    if (loop.isConditional())
      if (llvm::Error error = setSymbol(*loop, loop.getCountAttr(), count))
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
    call.symbols = &symbols;
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
  SymValues symbols;
  const EvaluateOptions &options;
};

} // namespace

llvm::Expected<std::vector<RefTensor>> evaluateFunction(func::FuncOp function,
                                                        ArrayRef<RefTensor> inputs,
                                                        const EvaluateOptions &options) {
  if (inputs.size() != function.getNumArguments())
    return fail("the model has " + Twine(function.getNumArguments()) + " inputs, but " +
                Twine(inputs.size()) + " were given");
  llvm::Expected<EntryPlan> plan = planEntry(function);
  if (!plan)
    return plan.takeError();
  std::vector<SmallVector<int64_t, 4>> dims;
  std::vector<std::string> names;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto type = cast<SymTensorType>(function.getArgumentTypes()[i]);
    names.push_back(inputName(function, i));
    dims.emplace_back(input.dims.begin(), input.dims.end());
    if (input.dims.size() != type.getRank())
      return fail("input '" + names.back() + "' must have rank " + Twine(type.getRank()) +
                  ", but has rank " + Twine(input.dims.size()));
    if (input.element != type.getElementType())
      return fail("input '" + names.back() + "' has another element type than the model's");
  }
  llvm::Expected<SymValues> symbols = plan->bind(dims, names);
  if (!symbols)
    return symbols.takeError();
  Evaluator evaluator(*symbols, options);
  for (auto [argument, input] : llvm::zip(function.getArguments(), inputs))
    evaluator.values[argument] = std::make_shared<RefTensor>(input);
  Block &body = function.getBody().front();
  if (llvm::Error error = evaluator.run(body))
    return std::move(error);
  std::vector<RefTensor> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(*evaluator.values[result]);
  return results;
}

} // namespace weft
