//===- Explain.cpp - What was decided about a model's kernels, and why ----------------------------------===//

#include "compiler/pipeline/Explain.h"
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
  Explainer(const Target &target, const Program &program) : target(target), program(program) {
    explanation.target = target.name();
  }

  void explain(const LoweredFunction &lowered) {
    SmallVector<KernelOp> kernels; // calls are lowered in the same order
    func::FuncOp function = lowered.function;
    function.walk<WalkOrder::PreOrder>([&](KernelOp kernel) { kernels.push_back(kernel); });
    assert(kernels.size() == lowered.calls.size());
    for (auto [i, kernel] : llvm::enumerate(kernels))
      numbers[kernel] = explanation.kernels.size() + i + 1;
    for (auto [kernel, call] : llvm::zip_equal(kernels, lowered.calls))
      explain(kernel, program.kernels[call.kernel], function.getName().str());
    numbers.clear();
  }

  Explanation explanation;

private:
  void explain(KernelOp kernel, const KernelCode &code, std::string function) {
    ExplainedKernel row{
        numbers[kernel], std::move(function), code.symbol, code.schedule, {}, {}, {}};
    collectNodes(kernel.getLoc(), row.nodes);
    Specification specification = specify(kernel);
    row.declined = target.declined(*specification.module->getOps<func::FuncOp>().begin());
    if (auto apart = kernel->getAttrOfType<ArrayAttr>(kApartAttr))
      for (auto [input, entry] : llvm::zip_equal(kernel.getInputs(), apart))
        addEdge(row, input, cast<DictionaryAttr>(entry));
    explanation.kernels.push_back(std::move(row));
  }

  void addEdge(ExplainedKernel &row, Value input, DictionaryAttr entry) {
    auto producer = baseOf(input).getDefiningOp<KernelOp>();
    if (producer && !entry.empty())
      row.edges.push_back({numbers.lookup(producer), textIn(entry, "from"), textIn(entry, "to"),
                           textIn(entry, "reason"), textIn(entry, "by")});
  }

  const Target &target;
  const Program &program;
  llvm::DenseMap<Operation *, unsigned> numbers; ///< of the function's kernels
};

} // namespace

Explanation explainKernels(const Target &target, const Program &program) {
  Explainer explainer(target, program);
  for (const LoweredFunction &function : program.functions)
    explainer.explain(function);
  return std::move(explainer.explanation);
}

} // namespace weft
