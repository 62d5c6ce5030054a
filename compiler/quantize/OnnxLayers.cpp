//===- OnnxLayers.cpp -------------------------------------------------------------------------===//

#include "compiler/quantize/OnnxLayers.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/quantize/Observe.h"
#include "passes/quant/LayerChoice.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace mlir;

namespace weft {
namespace {

constexpr StringLiteral kWritten[] = {"Conv", "Gemm", "MatMul"};
/// Of these, what others compute in integers only where its result is rounded, too.
constexpr StringLiteral kNeedsRoundedResult = "Conv";
/// What they fuse with it.
constexpr StringLiteral kFused[] = {"Relu", "Clip"};
/// What they compute of bytes and to bytes.
constexpr StringLiteral kSummed = "Add";
/// Bytes stay what they are; engines round in front of these instead of behind.
constexpr StringLiteral kMoving[] = {"MaxPool", "Reshape", "Transpose",
                                     "Flatten", "Squeeze", "Unsqueeze"};

} // namespace

OnnxLayers::OnnxLayers(const OnnxDraft &draft, const Module &module,
                       const std::vector<IntegerLayer> &layers)
    : draft(draft), module(module) {
  for (const IntegerLayer &layer : layers) {
    operations.insert(layer.op);
    names.insert(nodeNameOf(layer.op));
  }
}

std::optional<std::string> OnnxLayers::find(const IntegerLayer &layer, size_t &at) const {
  std::string name = nodeNameOf(layer.op);
  bool isFound = false;
  for (auto [i, node] : llvm::enumerate(draft.nodes)) {
    if (nameOf(node) != name)
      continue;
    if (isFound)
      return "has a name that several nodes of the file have";
    isFound = true;
    at = i;
  }
  if (!isFound)
    return "is none of the file's graph";
  std::string type = operatorOf(draft.nodes[at]);
  if (!llvm::is_contained(kWritten, type))
    return "is of type " + type + ", but only " + llvm::join(ArrayRef(kWritten), ", ") +
           " are written in integers";
  return otherWeight(draft.nodes[at], layer);
}

std::optional<std::string> OnnxLayers::otherReader(const IntegerLayer &layer, size_t at) const {
  const std::string &x = draft.nodes[at].inputs[0];
  std::set<std::string> ofProgram, ofFile;
  for (Operation *user : layer.input.getUsers())
    if (!operations.contains(user) && !user->hasTrait<OpTrait::ReturnLike>())
      ofProgram.insert(nodeNameOf(user));
  std::vector<size_t> readers = othersReading(x);
  for (size_t reader : readers)
    ofFile.insert(nameOf(draft.nodes[reader]));
  bool isCaptured = llvm::any_of(
      draft.nodes, [&](const OnnxDraftNode &node) { return llvm::is_contained(node.captured, x); });
  if (isCaptured || ofProgram != ofFile || ofFile.size() != readers.size())
    return "reads what other nodes read in another form, which cannot be rounded for them";
  return std::nullopt;
}

std::vector<size_t> OnnxLayers::othersReading(const std::string &value) const {
  std::vector<size_t> readers = readersOf(value);
  llvm::erase_if(readers, [&](size_t i) { return names.count(nameOf(draft.nodes[i])); });
  return readers;
}

std::vector<size_t> OnnxLayers::readersOf(const std::string &value) const {
  std::vector<size_t> readers;
  for (auto [i, node] : llvm::enumerate(draft.nodes))
    if (llvm::is_contained(node.inputs, value))
      readers.push_back(i);
  return readers;
}

std::vector<float> OnnxLayers::weightOf(const IntegerLayer &layer) const {
  return floatsOf(layer.weight, [&](StringRef each) { return module.get().weightBytes(each); });
}

/// Nothing where what the program multiplies with is the node's second input, as it stands in the
/// file.
std::optional<std::string> OnnxLayers::otherWeight(const OnnxDraftNode &node,
                                                   const IntegerLayer &layer) const {
  std::string other = "does not read its weight as the file has it";
  if (node.inputs.size() < 2)
    return other;
  for (const OnnxPart &input : draft.inputs)
    if (input.name == node.inputs[1])
      return "has a weight that is also an input of the file";
  auto dims = cast<SymTensorType>(layer.weight.getResult().getType()).getConstantDims();
  for (const OnnxTensor &tensor : draft.model->graph.initializers) {
    if (tensor.name != node.inputs[1])
      continue;
    llvm::Expected<TensorBytes> bytes = OnnxTensorData(*draft.model).read(tensor);
    if (!bytes)
      return "has a weight that cannot be read: " + llvm::toString(bytes.takeError());
    std::vector<float> weight = weightOf(layer);
    bool isSame = dims && ArrayRef(tensor.dims) == ArrayRef(*dims) &&
                  bytes->bytes.size() == weight.size() * sizeof(float) &&
                  memcmp(bytes->bytes.data(), weight.data(), bytes->bytes.size()) == 0;
    return isSame ? std::nullopt : std::optional(other);
  }
  return other;
}

//===-- Results -------------------------------------------------------------------------------===//

/// A node, and an activation that alone reads what it gives.
std::vector<size_t> OnnxLayers::resultNodes(size_t at) const {
  const std::string &given = draft.nodes[at].outputs[0];
  std::vector<size_t> nodes{at}, readers = readersOf(given);
  if (isInner(draft, given) && readers.size() == 1 &&
      llvm::is_contained(kFused, operatorOf(draft.nodes[readers[0]])) &&
      draft.nodes[readers[0]].inputs[0] == given)
    nodes.push_back(readers[0]);
  return nodes;
}

bool OnnxLayers::isRoundedByLayers(const std::string &value,
                                   const std::set<std::string> &integers) const {
  std::vector<size_t> readers = readersOf(value);
  return !readers.empty() && isInner(draft, value) && llvm::all_of(readers, [&](size_t i) {
    const OnnxDraftNode &node = draft.nodes[i];
    bool isMoving = llvm::is_contained(kMoving, operatorOf(node)) && node.outputs.size() == 1;
    return node.inputs[0] == value && (integers.count(nameOf(node)) ||
                                       (isMoving && isRoundedByLayers(node.outputs[0], integers)));
  });
}

std::optional<unsigned> OnnxLayers::resultToRound(const IntegerLayer &layer,
                                                  const std::set<std::string> &integers) const {
  size_t at = 0;
  if (find(layer, at) || operatorOf(draft.nodes[at]) != kNeedsRoundedResult)
    return std::nullopt;
  std::vector<size_t> nodes = resultNodes(at);
  const std::string &given = draft.nodes[nodes.back()].outputs[0];
  if (isRoundedByLayers(given, integers))
    return std::nullopt;
  for (unsigned operators = 0; valueGivenBehind(layer.op, operators); ++operators)
    if (valueBehind(layer, operators) == given)
      return operators;
  return std::nullopt;
}

std::string OnnxLayers::valueBehind(const IntegerLayer &layer, unsigned operators) const {
  Value value = valueGivenBehind(layer.op, operators);
  std::string name = nodeNameOf(layer.op);
  auto own =
      llvm::find_if(draft.nodes, [&](const OnnxDraftNode &node) { return nameOf(node) == name; });
  if (!value || own == draft.nodes.end())
    return "";
  std::string last = nodeNameOf(value.getDefiningOp());
  bool isWhole = llvm::none_of(value.getUsers(), [&](Operation *user) {
    return !user->hasTrait<OpTrait::ReturnLike>() && nodeNameOf(user) == last;
  });
  for (size_t i : resultNodes(size_t(own - draft.nodes.begin())))
    if (isWhole && nameOf(draft.nodes[i]) == last)
      return draft.nodes[i].outputs[0];
  return "";
}

bool OnnxLayers::isOfBytes(const std::string &value) const {
  std::vector<std::string> made{value}; // each once: sums of sums share operands
  for (size_t i = 0; i < made.size(); ++i) {
    auto maker = llvm::find_if(draft.nodes, [&](const OnnxDraftNode &node) {
      return llvm::is_contained(node.outputs, made[i]);
    });
    std::string type = maker == draft.nodes.end() ? "" : operatorOf(*maker);
    if (type == kNeedsRoundedResult)
      continue;
    if (type != kSummed && !llvm::is_contained(kFused, type) && !llvm::is_contained(kMoving, type))
      return false;
    for (const std::string &from : ArrayRef(maker->inputs).take_front(type == kSummed ? 2 : 1))
      if (!llvm::is_contained(made, from))
        made.push_back(from);
  }
  return true;
}

} // namespace weft
