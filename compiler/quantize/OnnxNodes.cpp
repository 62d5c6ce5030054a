//===- OnnxNodes.cpp --------------------------------------------------------------------------===//

#include "compiler/quantize/OnnxNodes.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/file/WireOutput.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace weft {
namespace {

/// Numbers of fields and kinds in onnx.proto.
enum Field : unsigned {
  NodeInput = 1,
  NodeOutput = 2,
  NodeName = 3,
  NodeOperator = 4,
  NodeAttribute = 5,
  NodeDomain = 7,
  GraphNode = 1,
  GraphInitializer = 5,
  AttributeName = 1,
  AttributeInteger = 3,
  AttributeKind = 20,
  TensorDim = 1,
  TensorElement = 2,
  TensorName = 8,
  TensorRaw = 9,
};
constexpr int64_t kIntegerKind = 2;

std::string textOf(const OnnxDraftNode &node, unsigned number) {
  StringRef message = node.part.content();
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  for (WireField field; cursor.next(field);)
    if (field.number == number)
      return std::string(field.bytes.data(), field.bytes.size());
  return "";
}

template <typename Number> std::vector<Number> numbersIn(StringRef bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty())
    memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

} // namespace

std::string nameOf(const OnnxDraftNode &node) { return textOf(node, NodeName); }

std::string operatorOf(const OnnxDraftNode &node) {
  std::string domain = textOf(node, NodeDomain);
  bool isStandard = domain.empty() || domain == "ai.onnx";
  return (isStandard ? "" : domain + ":") + textOf(node, NodeOperator);
}

OnnxPart tensorPart(const std::string &name, OnnxElementType element, ArrayRef<int64_t> dims,
                    StringRef bytes) {
  WireOutput out;
  for (int64_t dim : dims)
    out.integer(TensorDim, dim);
  out.integer(TensorElement, int64_t(element));
  out.text(TensorName, name);
  out.text(TensorRaw, bytes);
  return OnnxPart(GraphInitializer, name, out.bytes);
}

OnnxDraftNode nodeOf(StringRef type, ArrayRef<std::string> inputs, const std::string &output,
                     std::optional<int64_t> axis) {
  WireOutput out;
  for (const std::string &input : inputs)
    out.text(NodeInput, input);
  out.text(NodeOutput, output);
  out.text(NodeName, output);
  out.text(NodeOperator, type);
  if (axis) {
    WireOutput attribute;
    attribute.text(AttributeName, "axis");
    attribute.integer(AttributeInteger, *axis);
    attribute.integer(AttributeKind, kIntegerKind);
    out.text(NodeAttribute, attribute.bytes);
  }
  return OnnxDraft::nodeOf(OnnxPart(GraphNode, "", out.bytes));
}

/// The node with other texts for the first of its fields of a number.
static OnnxDraftNode withTexts(const OnnxDraftNode &node, unsigned number,
                               ArrayRef<std::string> texts) {
  WireOutput out;
  StringRef message = node.part.content();
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  size_t at = 0;
  for (WireField field; cursor.next(field);)
    if (field.number == number && at < texts.size())
      out.text(number, texts[at++]);
    else
      out.raw(StringRef(field.start, size_t(cursor.position() - field.start)));
  return OnnxDraft::nodeOf(OnnxPart(node.part.field, "", out.bytes));
}

OnnxDraftNode giving(const OnnxDraftNode &node, const std::string &output) {
  return withTexts(node, NodeOutput, {output});
}

OnnxDraftNode reading(const OnnxDraftNode &node, ArrayRef<std::string> inputs) {
  return withTexts(node, NodeInput, inputs);
}

const OnnxNode *inFile(const OnnxDraft &draft, const OnnxDraftNode &node) {
  for (const OnnxNode &each : draft.model->graph.nodes)
    if (!each.outputs.empty() && !node.outputs.empty() && each.outputs[0] == node.outputs[0])
      return &each;
  return nullptr;
}

int64_t integerOf(const OnnxNode &node, StringRef attribute, int64_t otherwise) {
  const OnnxAttribute *found = node.attribute(attribute);
  return found ? found->i : otherwise;
}

float floatOf(const OnnxNode &node, StringRef attribute, float otherwise) {
  const OnnxAttribute *found = node.attribute(attribute);
  return found ? found->f : otherwise;
}

bool isInner(const OnnxDraft &draft, const std::string &value) {
  return llvm::none_of(draft.outputs,
                       [&](const OnnxPart &output) { return output.name == value; }) &&
         llvm::none_of(draft.nodes, [&](const OnnxDraftNode &node) {
           return llvm::is_contained(node.captured, value);
         });
}

std::optional<FloatTensor> OnnxConstants::read(const std::string &name, OnnxElementType element,
                                               std::string &content) const {
  for (const OnnxPart &input : draft.inputs)
    if (input.name == name)
      return std::nullopt;
  for (const OnnxTensor &tensor : draft.model->graph.initializers) {
    if (tensor.name != name || tensor.elementType != element)
      continue;
    Expected<TensorBytes> bytes = OnnxTensorData(*draft.model).read(tensor);
    if (!bytes) {
      consumeError(bytes.takeError());
      return std::nullopt;
    }
    content.assign(bytes->bytes.data(), bytes->bytes.size());
    return FloatTensor{tensor.dims, {}};
  }
  return std::nullopt;
}

std::optional<FloatTensor> OnnxConstants::find(const std::string &name) const {
  if (auto found = made.find(name); found != made.end())
    return found->second;
  std::string bytes;
  std::optional<FloatTensor> tensor = read(name, OnnxElementType::Float, bytes);
  if (tensor)
    tensor->numbers = numbersIn<float>(bytes);
  return tensor;
}

std::optional<std::vector<int64_t>> OnnxConstants::findIntegers(const std::string &name) const {
  std::string bytes;
  if (!read(name, OnnxElementType::Int64, bytes))
    return std::nullopt;
  return numbersIn<int64_t>(bytes);
}

void OnnxConstants::add(const std::string &name, FloatTensor tensor) {
  draft.initializers.push_back(
      tensorOf<float>(name, OnnxElementType::Float, tensor.dims, tensor.numbers));
  made[name] = std::move(tensor);
}

} // namespace weft
