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
constexpr StringLiteral kSummed[] = {"Add"};
constexpr StringLiteral kAveraged[] = {"GlobalAveragePool", "AveragePool", "ReduceMean"};
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

/// A node of one of these types that alone reads what a node gives.
std::optional<size_t> OnnxLayers::onlyReader(size_t at, ArrayRef<StringLiteral> types) const {
  const std::string &given = draft.nodes[at].outputs[0];
  std::vector<size_t> readers = readersOf(given);
  bool isOne = isInner(draft, given) && readers.size() == 1 &&
               llvm::is_contained(types, operatorOf(draft.nodes[readers[0]]));
  return isOne ? std::optional(readers[0]) : std::nullopt;
}

std::vector<size_t> OnnxLayers::withActivation(size_t at) const {
  std::vector<size_t> nodes{at};
  std::optional<size_t> reader = onlyReader(at, kFused);
  if (reader && draft.nodes[*reader].inputs[0] == draft.nodes[at].outputs[0])
    nodes.push_back(*reader);
  return nodes;
}

/// The sum that alone reads what a node gives; of two such nodes it is the first one's.
std::optional<size_t> OnnxLayers::sumOf(size_t at) const {
  std::optional<size_t> sum = onlyReader(at, kSummed);
  if (!sum)
    return std::nullopt;
  const std::string &first = draft.nodes[*sum].inputs[0];
  bool isOwn = first == draft.nodes[at].outputs[0] || readersOf(first).size() > 1;
  return isOwn ? sum : std::nullopt;
}

/// A node and its sum, with their activations.
std::vector<size_t> OnnxLayers::resultNodes(size_t at) const {
  std::vector<size_t> nodes = withActivation(at);
  if (std::optional<size_t> sum = sumOf(nodes.back()))
    llvm::append_range(nodes, withActivation(*sum));
  return nodes;
}

bool OnnxLayers::isAveraged(const std::string &value) const {
  return isInner(draft, value) && llvm::all_of(readersOf(value), [&](size_t i) {
           return llvm::is_contained(kAveraged, operatorOf(draft.nodes[i]));
         });
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

std::vector<unsigned> OnnxLayers::resultsToRound(const IntegerLayer &layer,
                                                 const std::set<std::string> &integers) const {
  size_t at = 0;
  if (find(layer, at) || operatorOf(draft.nodes[at]) != kNeedsRoundedResult)
    return {};
  size_t last = withActivation(at).back();
  std::set<std::string> given;
  if (const std::string &own = draft.nodes[last].outputs[0]; !isRoundedByLayers(own, integers))
    given.insert(own);
  if (std::optional<size_t> sum = sumOf(last))
    if (const std::string &summed = draft.nodes[withActivation(*sum).back()].outputs[0];
        isOfBytes(summed) && isAveraged(summed))
      given.insert(summed);
  std::vector<unsigned> results;
  for (unsigned operators = 0; valueGivenBehind(layer.op, operators); ++operators)
    if (given.count(valueBehind(layer, operators)))
      results.push_back(operators);
  return results;
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
    bool isSummed = llvm::is_contained(kSummed, type);
    if (!isSummed && !llvm::is_contained(kFused, type) && !llvm::is_contained(kMoving, type))
      return false;
    for (const std::string &from : ArrayRef(maker->inputs).take_front(isSummed ? 2 : 1))
      if (!llvm::is_contained(made, from))
        made.push_back(from);
  }
  return true;
}

} // namespace weft
