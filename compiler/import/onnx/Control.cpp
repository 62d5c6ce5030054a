//===- Control.cpp - If whose condition is known ----------------------------------------------===//

#include "compiler/import/onnx/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// Exporters leave decisions about ranks and sizes in the file; most are decided here.
void convertIf(NodeImport &n) {
  const OnnxGraph *yes = n.graphAttribute("then_branch"), *no = n.graphAttribute("else_branch");
  if (!yes || !no || !n.input(0))
    return;
  const RefTensor *condition = n.known(n.input(0));
  if (!condition || condition->kind != Scalar::Integer || condition->size() != 1)
    return (void)n.refuse("the condition depends on the contents of tensors or on sizes that are not known");
  const OnnxGraph &taken = condition->integers[0] ? *yes : *no;
  if (taken.outputs.size() < n.node.outputs.size())
    return (void)n.wrong("a branch has " + Twine(taken.outputs.size()) + " outputs, but the node has " +
                         Twine(n.node.outputs.size()));
  SmallVector<Value> outputs;
  if (n.services.inlineGraph(taken, outputs))
    n.results.assign(outputs.begin(), outputs.end());
}

} // namespace

void addControl(OperatorTable &table) { table.add({"If", 1, kNewestOpset, convertIf, 1, 1, kAnyNumber}); }

} // namespace weft::onnx
