//===- FoldFactors.cpp ------------------------------------------------------------------------===//

#include "compiler/quantize/FoldFactors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using namespace llvm;

namespace weft {
namespace {

/// Operators of one value for which f(x / c) = f(x) / c where c is positive.
constexpr StringLiteral kPointwise[] = {"Relu", "LeakyRelu", "PRelu", "Identity"};
/// The same, of windows; channels are their dimension 1.
constexpr StringLiteral kPools[] = {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};
/// The same, of dimensions that are named.
constexpr StringLiteral kReductions[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                         "Squeeze"};
constexpr int64_t kPoolChannel = 1;

/// The dimension of the operand that is this one of the result, when some dimensions are gone.
/// Nothing where it is not known.
std::optional<int64_t> beforeReduction(const OnnxChannel &channel, std::vector<int64_t> axes,
                                       bool keepsDims) {
  for (int64_t &axis : axes) {
    if (axis < 0 && !channel.rank)
      return std::nullopt;
    if (axis < 0)
      axis += *channel.rank + (keepsDims ? 0 : int64_t(axes.size()));
  }
  if (keepsDims)
    return llvm::is_contained(axes, channel.axis) ? std::nullopt : std::optional(channel.axis);
  llvm::sort(axes);
  int64_t before = channel.axis;
  for (int64_t axis : axes)
    before += axis <= before;
  return before;
}

/// Where a node of one constant has it.
std::optional<unsigned> constantOperand(const OnnxDraftNode &node, const OnnxConstants &constants) {
  std::optional<unsigned> found;
  for (auto [i, input] : llvm::enumerate(node.inputs))
    if (constants.find(input)) {
      if (found)
        return std::nullopt;
      found = unsigned(i);
    }
  return found;
}

} // namespace

ArrayRef<float> FactorFold::columnsOf(const std::string &node) const {
  auto found = columns.find(node);
  return found == columns.end() ? ArrayRef<float>() : ArrayRef(found->second);
}

bool FactorFold::fold(OnnxChannel channel, ArrayRef<float> divisors) {
  bool isWhole = plan(std::move(channel), divisors);
  if (isWhole)
    apply();
  return isWhole;
}

bool FactorFold::canFold(OnnxChannel channel, size_t channels) {
  return plan(std::move(channel), std::vector<float>(channels, 1));
}

/// What has to be edited, while walking from a value to what makes it.
bool FactorFold::plan(OnnxChannel channel, ArrayRef<float> divisors) {
  factors = divisors;
  edits.clear();
  for (std::optional<size_t> at = makerOf(channel.value); at; at = makerOf(channel.value)) {
    const OnnxNode *node = inFile(draft, draft.nodes[*at]);
    if (!node || !node->domain.empty())
      return false;
    if (std::optional<std::vector<Part>> parts = partsOf(*node, channel))
      return llvm::all_of(*parts, [&](const Part &part) { return divide(*at, part); });
    if (node->opType == "Add" && !addendAt(*at, channel))
      return false;
    std::optional<OnnxChannel> before = through(*node, channel);
    if (!before || !isReadOnce(before->value))
      return false;
    channel = *before;
  }
  return false;
}

/// What a node multiplies channels with, and adds to them; nothing where it does not make them.
std::optional<std::vector<FactorFold::Part>> FactorFold::partsOf(const OnnxNode &node,
                                                                 const OnnxChannel &channel) const {
  bool isLast = channel.rank && channel.axis + 1 == *channel.rank;
  bool isPlanes = channel.axis == kPoolChannel;
  if (node.opType == "Conv" && isPlanes)
    return std::vector<Part>{{1, 0}, {2, 0}};
  if (node.opType == "ConvTranspose" && isPlanes && integerOf(node, "group", 1) == 1)
    return std::vector<Part>{{1, 1}, {2, 0}};
  if (node.opType == "Gemm" && channel.axis == 1)
    return std::vector<Part>{{1, integerOf(node, "transB", 0) ? 0 : 1}, {2, -1}};
  if (node.opType == "MatMul" && isLast)
    return std::vector<Part>{{1, -1}};
  bool isOfPlanes = node.opType == "BatchNormalization" || node.opType == "InstanceNormalization";
  if (isOfPlanes && isPlanes && node.outputs.size() == 1)
    return std::vector<Part>{{1, 0}, {2, 0}};
  if (node.opType == "LayerNormalization" && isLast)
    return std::vector<Part>{{1, -1}, {2, -1}};
  if ((node.opType == "Mul" || node.opType == "Div") && channel.rank) {
    std::optional<unsigned> factor =
        constantOperand(draft.nodes[*makerOf(channel.value)], constants);
    if (factor && (node.opType == "Mul" || *factor == 1))
      return std::vector<Part>{{*factor, channel.axis - *channel.rank, node.opType == "Div"}};
  }
  return std::nullopt;
}

/// The channels in front of a node that commutes with factors; nothing where it does not.
std::optional<OnnxChannel> FactorFold::through(const OnnxNode &node,
                                               const OnnxChannel &channel) const {
  OnnxChannel before = channel;
  before.value = node.inputs.empty() ? "" : node.inputs[0].str();
  if (llvm::is_contained(kPointwise, node.opType) ||
      (llvm::is_contained(kPools, node.opType) && channel.axis == kPoolChannel))
    return before;
  if (node.opType == "Add") { // whose constant is divided, too
    bool isFirst = constants.find(before.value).has_value();
    before.value = node.inputs[isFirst ? 1 : 0].str();
    return before;
  }
  if (node.opType == "Flatten" && channel.axis == 1 && integerOf(node, "axis", 1) == 1) {
    before.rank = std::nullopt; // as many channels as there were: all else has size 1
    return before;
  }
  if (const OnnxAttribute *order = node.attribute("perm"); order && node.opType == "Transpose") {
    if (channel.axis >= int64_t(order->ints.size()))
      return std::nullopt;
    before.axis = order->ints[size_t(channel.axis)];
    return before;
  }
  if (!llvm::is_contained(kReductions, node.opType))
    return std::nullopt;
  std::optional<std::vector<int64_t>> axes;
  if (const OnnxAttribute *named = node.attribute("axes"))
    axes = named->ints;
  else if (node.inputs.size() > 1)
    axes = constants.findIntegers(node.inputs[1].str());
  bool keepsDims = node.opType != "Squeeze" && integerOf(node, "keepdims", 1) != 0;
  std::optional<int64_t> axis;
  if (axes && !axes->empty())
    axis = beforeReduction(channel, *axes, keepsDims);
  if (!axis)
    return std::nullopt;
  before.axis = *axis;
  if (before.rank && !keepsDims)
    *before.rank += int64_t(axes->size());
  return before;
}

/// What a node adds to channels is divided as well.
bool FactorFold::addendAt(size_t node, const OnnxChannel &channel) {
  std::optional<unsigned> addend = constantOperand(draft.nodes[node], constants);
  return addend && channel.rank && divide(node, {*addend, channel.axis - *channel.rank});
}

bool FactorFold::divide(size_t at, const Part &part) {
  const OnnxDraftNode &node = draft.nodes[at];
  if (node.inputs.size() <= part.input || node.inputs[part.input].empty())
    return part.input > 1; // nothing is added there
  std::optional<FloatTensor> tensor = constants.find(node.inputs[part.input]);
  int64_t rank = tensor ? int64_t(tensor->dims.size()) : 0;
  int64_t dim = part.dim < 0 ? part.dim + rank : part.dim;
  if (dim < 0 || dim >= rank || tensor->dims[size_t(dim)] != int64_t(factors.size()))
    return false;
  auto integer = integers.find(nameOf(node));
  edits.push_back({at, part.input, {}});
  if (integer != integers.end() && part.input == 1)
    return integer->second; // its columns' scales are divided
  int64_t stride = std::accumulate(tensor->dims.begin() + dim + 1, tensor->dims.end(), int64_t(1),
                                   std::multiplies<>());
  for (auto [i, number] : llvm::enumerate(tensor->numbers)) {
    float factor = factors[i / size_t(stride) % factors.size()];
    number *= part.isInverse ? factor : 1 / factor;
  }
  edits.back().tensor = std::move(*tensor);
  return true;
}

void FactorFold::apply() {
  for (Edit &edit : edits) {
    OnnxDraftNode &node = draft.nodes[edit.node];
    if (edit.tensor.numbers.empty()) {
      columns[nameOf(node)] = factors;
      continue;
    }
    std::vector<std::string> inputs = node.inputs;
    inputs[edit.input] = node.outputs[0] + "/weft/divided" + std::to_string(edit.input);
    constants.add(inputs[edit.input], std::move(edit.tensor));
    node = reading(node, inputs);
  }
}

std::optional<size_t> FactorFold::makerOf(const std::string &value) const {
  for (auto [i, node] : llvm::enumerate(draft.nodes))
    if (!node.outputs.empty() && node.outputs[0] == value)
      return i;
  return std::nullopt;
}

bool FactorFold::isReadOnce(const std::string &value) const {
  int64_t readers = 0;
  for (const OnnxDraftNode &node : draft.nodes)
    readers += llvm::count(node.inputs, value);
  return readers == 1 && isInner(draft, value);
}

} // namespace weft
