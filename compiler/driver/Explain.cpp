//===- Explain.cpp - What was decided about a model's kernels, and why ----------------------------------===//

#include "compiler/driver/Explain.h"
#include "passes/kernel/Apart.h"

using namespace mlir;

namespace weft {
namespace {

std::string textIn(DictionaryAttr entry, StringRef name) {
  auto text = entry.getAs<StringAttr>(name);
  return text ? text.getValue().str() : "";
}

class Explainer {
public:
  Explainer(const KernelTarget &target, const Program &program, const Tuning &tuning)
      : target(target), program(program), tuning(tuning) {
    explanation.target = target.name().str();
    explanation.scope = target.scope();
  }

  void explain(const LoweredFunction &lowered) {
    SmallVector<KernelOp> kernels; // calls may have another order
    func::FuncOp function = lowered.function;
    function.walk<WalkOrder::PreOrder>([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (auto [i, kernel] : llvm::enumerate(kernels))
      numbers[kernel] = explanation.kernels.size() + i + 1;
    llvm::DenseMap<Operation *, unsigned> rows; // of the distinct kernels
    for (const KernelCall &call : lowered.calls)
      rows[call.op] = call.kernel;
    for (KernelOp kernel : kernels)
      explain(kernel, program.kernels[rows.at(kernel)], function.getName().str());
    numbers.clear();
  }

  Explanation explanation;

private:
  void explain(KernelOp kernel, const KernelCode &code, std::string function) {
    ExplainedKernel row{
        numbers[kernel], std::move(function), code.symbol, code.schedule, {}, {}, {}, {}};
    collectNodes(kernel.getLoc(), row.nodes);
    Specification specification = specify(kernel);
    auto specified = *specification.module->getOps<func::FuncOp>().begin();
    row.declined = target.declined(specified);
    row.chosen = choicesOf(specified);
    if (auto apart = kernel->getAttrOfType<ArrayAttr>(kApartAttr))
      for (auto [input, entry] : llvm::zip_equal(kernel.getInputs(), apart))
        addEdge(row, input, cast<DictionaryAttr>(entry));
    explanation.kernels.push_back(std::move(row));
  }

  ExplainedChoices choicesOf(func::FuncOp specification) {
    ExplainedChoices chosen;
    chosen.kernel = kernelKey(specification);
    chosen.schedules = target.alternatives(specification);
    if (const TuningRecord *record = tuning.apply(specification, target))
      chosen.record = *record;
    chosen.picks = picksOf(specification);
    chosen.choices = target.choices(specification);
    return chosen;
  }

  void addEdge(ExplainedKernel &row, Value input, DictionaryAttr entry) {
    auto producer = baseOf(input).getDefiningOp<KernelOp>();
    if (producer && !entry.empty())
      row.edges.push_back({numbers.lookup(producer), textIn(entry, "from"), textIn(entry, "to"),
                           textIn(entry, "reason"), textIn(entry, "by")});
  }

  const KernelTarget &target;
  const Program &program;
  const Tuning &tuning;
  llvm::DenseMap<Operation *, unsigned> numbers; ///< of the function's kernels
};

} // namespace

Explanation explainKernels(const KernelTarget &target, const Program &program,
                           const Tuning &tuning) {
  Explainer explainer(target, program, tuning);
  for (const LoweredFunction &function : program.functions)
    explainer.explain(function);
  return std::move(explainer.explanation);
}

} // namespace weft
