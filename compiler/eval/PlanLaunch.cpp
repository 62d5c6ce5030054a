//===- PlanLaunch.cpp -------------------------------------------------------------------------===//

#include "compiler/eval/PlanLaunch.h"
#include "dialects/weft/Aliases.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// A launch with the values of its words and what it reads and writes.
class LaunchCall {
public:
  LaunchCall(plan::LaunchOp launch, const PlanBuffers &buffers)
      : launch(launch), name(nameOf(launch)), buffers(buffers),
        specification(
            SymbolTable::lookupNearestSymbolFrom<plan::KernelOp>(launch, launch.getKernelAttr())
                .specification()) {}

  llvm::Error prepare(const SymValues &symbols) {
    if (llvm::Error error = setWords(symbols))
      return error;
    for (auto [i, buffer] : llvm::enumerate(launch.getInputs())) {
      BlockArgument argument = specification.getArgument(i);
      if (llvm::Error error = add(buffer, argument.getType(), "input " + Twine(i), inputs))
        return error;
      llvm::Expected<ElementRuns> runs = runsRead(argument, inputs.back().dims);
      if (!runs)
        return runs.takeError();
      inputs.back().runs = std::move(*runs);
    }
    Operation *end = specification.getBody().front().getTerminator();
    for (auto [i, buffer] : llvm::enumerate(launch.getOutputs())) {
      Value result = end->getOperand(i);
      if (llvm::Error error = add(buffer, result.getType(), "output " + Twine(i), outputs))
        return error;
      llvm::Expected<ElementRuns> runs = runsWritten(result, outputs.back().dims);
      if (!runs)
        return runs.takeError();
      outputs.back().runs = std::move(*runs);
    }
    return checkItself();
  }

  /// Whether the two may run at the same time.
  llvm::Error checkBeside(const LaunchCall &other) const {
    auto fault = [&](const Twine &mine, const Twine &theirs) {
      return fail(name + " and " + other.name + " run together, but " + mine +
                  " of the first lies where " + theirs + " of the second does");
    };
    for (auto [i, mine] : llvm::enumerate(outputs)) {
      for (auto [k, theirs] : llvm::enumerate(other.inputs))
        if (PlanBuffers::overlap(mine, theirs))
          return fault("output " + Twine(i), "input " + Twine(k));
      for (auto [k, theirs] : llvm::enumerate(other.outputs))
        if (PlanBuffers::overlap(mine, theirs))
          return fault("output " + Twine(i), "output " + Twine(k));
    }
    for (auto [i, mine] : llvm::enumerate(inputs))
      for (auto [k, theirs] : llvm::enumerate(other.outputs))
        if (PlanBuffers::overlap(mine, theirs))
          return fault("input " + Twine(i), "output " + Twine(k));
    return llvm::Error::success();
  }

  llvm::Error run(PlanBuffers &memory, const EvaluateOptions &options) const {
    std::vector<RefTensor> given;
    for (const PlanOperand &input : inputs) {
      llvm::Expected<RefTensor> values = memory.read(input);
      if (!values)
        return values.takeError();
      given.push_back(std::move(*values));
    }
    auto results = evaluateBody(specification, std::move(given), words, options);
    if (!results)
      return fail(name + ": " + llvm::toString(results.takeError()));
    for (auto [output, values] : llvm::zip_equal(outputs, *results))
      if (llvm::Error error = memory.write(output, std::move(values), launch))
        return error;
    return llvm::Error::success();
  }

private:
  llvm::Error setWords(const SymValues &symbols) {
    SymbolsAttr declared = symbolsOf(specification);
    for (auto [symbol, word] : llvm::zip_equal(declared.getNames(), launch.getWords().getDims())) {
      FailureOr<int64_t> value = word.evaluate(symbols);
      if (failed(value) || *value < 0)
        return fail(name + ": '" + word.str() + "' is no size here");
      words[symbol] = *value;
    }
    for (const SymPred &fact : declared.getFacts()) {
      FailureOr<bool> holds = fact.evaluate(words);
      if (failed(holds) || !*holds)
        return fail(name + " relies on '" + fact.str() + "', which does not hold here");
    }
    return llvm::Error::success();
  }

  llvm::Error add(Value buffer, Type tensor, const Twine &role,
                  std::vector<PlanOperand> &operands) {
    auto type = cast<SymTensorType>(tensor);
    if (llvm::Error error = refuseSize(type, words))
      return error;
    llvm::Expected<DimValues> dims = dimsOf(type, words);
    if (!dims)
      return dims.takeError();
    operands.push_back({buffers.at(buffer), type.getElementType(), *dims, runsOfAll(*dims),
                        (role + " of " + name).str()});
    return llvm::Error::success();
  }

  /// The box of `sizes` elements from `starts` on.
  llvm::Expected<ElementRuns> box(ArrayRef<SymExpr> starts, ArrayRef<SymExpr> sizes,
                                  ArrayRef<int64_t> dims) const {
    DimValues first, count;
    for (auto [start, size, dim] : llvm::zip_equal(starts, sizes, dims)) {
      FailureOr<int64_t> at = start.evaluate(words), many = size.evaluate(words);
      if (failed(at) || failed(many) || *at < 0 || *many < 0 || *at > dim - *many)
        return fail(name + " takes '" + size.str() + "' elements from '" + start.str() +
                    "' on of a dimension of " + Twine(dim));
      first.push_back(*at);
      count.push_back(*many);
    }
    return runsOfBox(dims, first, count);
  }

  /// Slices of an argument read what they take, and all other operators everything. What a result
  /// in place keeps of a buffer is not read.
  llvm::Expected<ElementRuns> runsRead(BlockArgument argument, ArrayRef<int64_t> dims) const {
    ElementRuns runs;
    if (isPacked(cast<SymTensorType>(argument.getType()).getElementType()))
      return runsOfAll(dims);
    for (OpOperand &use : argument.getUses()) {
      auto slice = dyn_cast<SliceOp>(use.getOwner());
      if (!slice || !llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; }))
        return runsOfAll(dims);
      if (isKept(slice))
        continue;
      llvm::Expected<ElementRuns> taken =
          box(slice.getStarts().getDims(), slice.getSizes().getDims(), dims);
      if (!taken)
        return taken.takeError();
      runs = unite(std::move(runs), *taken);
    }
    return runs;
  }

  static bool isKept(SliceOp slice) {
    return llvm::all_of(slice->getUses(), [](OpOperand &use) {
      return use.getOwner()->hasAttr(kInPlaceAttr) && use.getOperandNumber() != 1;
    });
  }

  llvm::Expected<ElementRuns> runsWritten(Value result, ArrayRef<int64_t> dims) const {
    std::optional<InPlaceWrite> write = inPlaceWrite(result);
    if (!write)
      return runsOfAll(dims);
    SmallVector<SymExpr> starts(dims.size(), SymExpr::constant(result.getContext(), 0));
    starts[write->dim] = write->start;
    return box(starts, cast<SymTensorType>(write->part.getType()).getDims(), dims);
  }

  llvm::Error checkItself() const {
    for (auto [i, output] : llvm::enumerate(outputs)) {
      for (auto [k, input] : llvm::enumerate(inputs))
        if (PlanBuffers::overlap(output, input))
          return fail(output.name + " lies where input " + Twine(k) + " does");
      for (size_t k = 0; k < i; ++k)
        if (PlanBuffers::overlap(output, outputs[k]))
          return fail(output.name + " lies where output " + Twine(k) + " does");
    }
    return llvm::Error::success();
  }

  plan::LaunchOp launch;
  std::string name;
  const PlanBuffers &buffers;
  func::FuncOp specification;
  SymValues words;
  std::vector<PlanOperand> inputs, outputs;
};

} // namespace

llvm::Error evaluateLaunches(ArrayRef<plan::LaunchOp> launches, const SymValues &symbols,
                             PlanBuffers &buffers, const EvaluateOptions &options) {
  std::vector<LaunchCall> calls;
  for (plan::LaunchOp launch : launches) {
    LaunchCall call(launch, buffers);
    if (llvm::Error error = call.prepare(symbols))
      return error;
    for (const LaunchCall &other : calls)
      if (llvm::Error error = other.checkBeside(call))
        return error;
    calls.push_back(std::move(call));
  }
  for (const LaunchCall &call : calls)
    if (llvm::Error error = call.run(buffers, options))
      return error;
  return llvm::Error::success();
}

} // namespace weft
