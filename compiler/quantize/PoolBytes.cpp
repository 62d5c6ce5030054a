//===- PoolBytes.cpp --------------------------------------------------------------------------===//

#include "compiler/quantize/PoolBytes.h"
#include "compiler/quantize/OnnxNodes.h"

using namespace mlir;

namespace weft {
namespace {

/// The node that alone reads a value; null where it is read otherwise, too.
const OnnxDraftNode *onlyReader(const OnnxDraft &draft, const std::string &value) {
  const OnnxDraftNode *reader = nullptr;
  for (const OnnxDraftNode &node : draft.nodes)
    for (const std::string &input : node.inputs)
      if (input == value && std::exchange(reader, &node))
        return nullptr;
  return isInner(draft, value) ? reader : nullptr;
}

/// What was made to round to bytes behind a pool; null where the pool reads bytes already. Pairs of
/// the user's stay where they are.
const OnnxDraftNode *roundingBehind(const OnnxDraft &draft, const OnnxDraftNode &pool) {
  if (operatorOf(pool) != "MaxPool" || pool.outputs.size() != 1 ||
      !onlyReader(draft, pool.inputs[0]))
    return nullptr;
  bool isRestored = llvm::any_of(draft.nodes, [&](const OnnxDraftNode &node) {
    return operatorOf(node) == "DequantizeLinear" && node.outputs[0] == pool.inputs[0];
  });
  const OnnxDraftNode *reader = isRestored ? nullptr : onlyReader(draft, pool.outputs[0]);
  bool isRounding = reader && operatorOf(*reader) == "QuantizeLinear" && !inFile(draft, *reader);
  return isRounding ? reader : nullptr;
}

} // namespace

void poolBytes(OnnxDraft &draft) {
  for (size_t i = 0; i < draft.nodes.size(); ++i) {
    const OnnxDraftNode *rounding = roundingBehind(draft, draft.nodes[i]);
    if (!rounding)
      continue;
    std::vector<std::string> read = draft.nodes[i].inputs, by = rounding->inputs;
    const std::string own = read[0] + "/weft/pooled/";
    by[0] = read[0];
    std::vector<OnnxDraftNode> made{nodeOf("QuantizeLinear", by, own + "bytes")};
    by[0] = own + "bytes";
    made.push_back(nodeOf("DequantizeLinear", by, own + "restored"));
    read[0] = own + "restored";
    draft.nodes[i] = reading(draft.nodes[i], read);
    draft.nodes.insert(draft.nodes.begin() + ptrdiff_t(i), made.begin(), made.end());
    i += made.size();
  }
}

} // namespace weft
