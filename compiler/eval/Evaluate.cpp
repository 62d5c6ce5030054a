//===- Evaluate.cpp - Walks a function in order ---------------------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/pipeline/EntryPlan.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) { return llvm::createStringError(llvm::inconvertibleErrorCode(), what); }

/// Values are dropped after their last use, so that a deep model needs the memory of its widest point.
class Evaluator {
public:
  Evaluator(SymValues symbols, const EvaluateOptions &options) : symbols(std::move(symbols)), options(options) {}

  llvm::Error run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (llvm::Error error = evaluate(op))
        return error;
    return llvm::Error::success();
  }

  llvm::Error evaluate(Operation &op) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      return evaluateKernel(kernel);
    auto reference = dyn_cast<ReferenceOpInterface>(op);
    if (!reference)
      return fail("operator '" + op.getName().getStringRef() + "' has no reference semantics");
    ReferenceCall call;
    SmallVector<const RefTensor *> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(values[operand].get());
    call.inputs = inputs;
    call.symbols = &symbols;
    call.weight = options.weight;
    if (failed(reference.evaluate(call)))
      return fail(where(op) + "cannot be evaluated: " + call.error);
    if (options.observe)
      options.observe(&op, call.outputs);
    for (auto [result, tensor] : llvm::zip(op.getResults(), call.outputs))
      values[result] = std::make_shared<RefTensor>(std::move(tensor));
    for (Value operand : op.getOperands())
      if (llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == &op || user->isBeforeInBlock(&op); }))
        values.erase(operand);
    return llvm::Error::success();
  }

  llvm::Error evaluateKernel(KernelOp kernel) {
    Block &body = kernel.getBody().front();
    for (auto [outside, inside] : llvm::zip(kernel.getInputs(), body.getArguments()))
      values[inside] = values[outside];
    if (llvm::Error error = run(body))
      return error;
    for (auto [result, yielded] : llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
      values[result] = values[yielded];
    return llvm::Error::success();
  }

  static std::string where(Operation &op) {
    if (auto name = dyn_cast<NameLoc>(op.getLoc()))
      return name.getName().str() + ": ";
    return ("'" + op.getName().getStringRef() + "' ").str();
  }

  llvm::DenseMap<Value, std::shared_ptr<RefTensor>> values;
  SymValues symbols;
  const EvaluateOptions &options;
};

} // namespace

llvm::Expected<std::vector<RefTensor>> evaluateFunction(func::FuncOp function, ArrayRef<RefTensor> inputs, const EvaluateOptions &options) {
  if (inputs.size() != function.getNumArguments())
    return fail("the model has " + Twine(function.getNumArguments()) + " inputs, but " + Twine(inputs.size()) + " were given");
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
      return fail("input '" + names.back() + "' must have rank " + Twine(type.getRank()) + ", but has rank " + Twine(input.dims.size()));
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
