//===- OnnxEdits.cpp --------------------------------------------------------------------------===//

#include "compiler/reduce/OnnxEdits.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/file/WireOutput.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace weft {
namespace {

/// Tensors of fewer elements are scalars, axes and shapes: as clear as any input.
constexpr uint64_t kLargeTensor = 17;

StringRef textOf(const WireField &field) { return {field.bytes.data(), field.bytes.size()}; }

void eachField(StringRef message, function_ref<void(const WireField &, StringRef)> use) {
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  for (WireField field; cursor.next(field);)
    use(field, StringRef(field.start, size_t(cursor.position() - field.start)));
}

/// ValueInfoProto; without a type when it is not known, which outputs may be.
OnnxPart valueInfo(unsigned field, const std::string &name, const OnnxTypes &types) {
  WireOutput out;
  out.text(1, name);
  if (auto type = types.find(name); type != types.end())
    out.text(2, type->second);
  return OnnxPart(field, name, out.bytes);
}

std::vector<bool> chosenOf(size_t count, const std::vector<size_t> &indices) {
  std::vector<bool> chosen(count);
  for (size_t i : indices)
    chosen[i] = true;
  return chosen;
}

/// The node with other names for its inputs.
OnnxDraftNode withInputs(const OnnxDraftNode &node, const std::vector<std::string> &names) {
  WireOutput out;
  size_t at = 0;
  eachField(node.part.content(), [&](const WireField &field, StringRef encoded) {
    if (field.number == 1)
      out.text(1, names[at++]);
    else
      out.raw(encoded);
  });
  return OnnxDraft::nodeOf(OnnxPart(node.part.field, "", out.bytes));
}

/// Whose name each value goes by once the nodes are gone.
class Aliases {
public:
  void add(const std::string &name, const std::string &source) { sources[name] = source; }
  bool has(const std::string &name) const { return sources.count(name); }
  std::string resolve(std::string name) const {
    for (auto found = sources.find(name); found != sources.end(); found = sources.find(name))
      name = found->second;
    return name;
  }

private:
  std::map<std::string, std::string> sources;
};

} // namespace

//===-- Nodes ---------------------------------------------------------------------------------===//

bool removeNodes(OnnxDraft &draft, const std::vector<size_t> &indices, const OnnxTypes &types) {
  std::vector<bool> gone = chosenOf(draft.nodes.size(), indices);
  StringSet<> lost, made, readByRest, isOutput, isInput;
  for (const OnnxPart &input : draft.inputs)
    isInput.insert(input.name);
  for (size_t i = 0; i < gone.size(); ++i) {
    for (const std::string &name : draft.nodes[i].outputs)
      if (gone[i])
        lost.insert(name);
      else if (!draft.nodes[i].reads().empty()) // constants are no outputs that anybody wants
        made.insert(name);
    for (const std::string &name : draft.nodes[i].reads())
      if (!gone[i])
        readByRest.insert(name);
  }
  llvm::erase_if(draft.outputs, [&](const OnnxPart &part) { return lost.contains(part.name); });
  for (const OnnxPart &output : draft.outputs)
    isOutput.insert(output.name);
  for (size_t i = 0; i < gone.size(); ++i) {
    for (const std::string &name : draft.nodes[i].reads())
      if (gone[i] && made.contains(name) && !readByRest.contains(name) &&
          isOutput.insert(name).second)
        draft.outputs.push_back(valueInfo(12, name, types));
    for (const std::string &name : draft.nodes[i].outputs) {
      if (!gone[i] || !readByRest.contains(name) || !isInput.insert(name).second)
        continue;
      if (!types.count(name))
        return false;
      draft.inputs.push_back(valueInfo(11, name, types));
    }
  }
  size_t at = 0;
  llvm::erase_if(draft.nodes, [&](const OnnxDraftNode &) { return gone[at++]; });
  return !draft.outputs.empty();
}

std::string forwardedInput(const OnnxDraftNode &node, const OnnxTypes &types) {
  if (node.outputs.size() != 1)
    return "";
  auto type = types.find(node.outputs[0]);
  if (type == types.end())
    return "";
  for (const std::string &input : node.inputs)
    if (auto found = types.find(input); found != types.end() && found->second == type->second)
      return input;
  return "";
}

bool forwardNodes(OnnxDraft &draft, const std::vector<size_t> &indices, const OnnxTypes &types) {
  Aliases aliases;
  for (size_t i : indices)
    aliases.add(draft.nodes[i].outputs[0], forwardedInput(draft.nodes[i], types));
  StringSet<> made;
  for (OnnxDraftNode &node : draft.nodes) {
    if (llvm::any_of(node.captured, [&](const std::string &name) { return aliases.has(name); }))
      return false;
    made.insert(node.outputs.begin(), node.outputs.end());
    if (!llvm::any_of(node.inputs, [&](const std::string &name) { return aliases.has(name); }))
      continue;
    std::vector<std::string> names;
    for (const std::string &name : node.inputs)
      names.push_back(aliases.resolve(name));
    node = withInputs(node, names);
  }
  StringSet<> isOutput;
  std::vector<OnnxPart> outputs;
  for (const OnnxPart &output : draft.outputs) {
    std::string name = aliases.resolve(output.name);
    if ((name == output.name || made.contains(name)) && isOutput.insert(name).second)
      outputs.push_back(name == output.name ? output : valueInfo(12, name, types));
  }
  draft.outputs = outputs;
  return !outputs.empty();
}

StringRef branchOf(const OnnxDraftNode &node, StringRef attribute) {
  StringRef found;
  bool isIf = false;
  eachField(node.part.content(), [&](const WireField &field, StringRef) {
    isIf |= field.number == 4 && textOf(field) == "If";
    if (field.number != 5)
      return;
    StringRef name, graph;
    eachField(textOf(field), [&](const WireField &inner, StringRef) {
      if (inner.number == 1)
        name = textOf(inner);
      if (inner.number == 6)
        graph = textOf(inner);
    });
    if (name == attribute)
      found = graph;
  });
  return isIf ? found : StringRef();
}

bool inlineBranches(OnnxDraft &draft, const std::vector<size_t> &indices, StringRef attribute) {
  std::vector<bool> chosen = chosenOf(draft.nodes.size(), indices);
  std::vector<OnnxDraftNode> nodes;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) {
      nodes.push_back(draft.nodes[i]);
      continue;
    }
    StringRef graph = branchOf(draft.nodes[i], attribute);
    OnnxDraft branch = OnnxDraft::ofGraph(graph);
    llvm::append_range(nodes, branch.nodes);
    llvm::append_range(draft.initializers, branch.initializers);
    if (branch.outputs.size() < draft.nodes[i].outputs.size())
      return false;
    for (size_t k = 0; k < draft.nodes[i].outputs.size(); ++k) {
      WireOutput identity;
      identity.text(1, branch.outputs[k].name);
      identity.text(2, draft.nodes[i].outputs[k]);
      identity.text(4, "Identity");
      nodes.push_back(OnnxDraft::nodeOf(OnnxPart(1, "", identity.bytes)));
    }
    draft.kept.push_back(draft.nodes[i].part); // its bytes may be the branch's
  }
  draft.nodes = nodes;
  return true;
}

size_t countAttributes(const OnnxDraftNode &node) {
  size_t count = 0;
  eachField(node.part.content(),
            [&](const WireField &field, StringRef) { count += field.number == 5; });
  return count;
}

OnnxDraftNode withoutAttributes(const OnnxDraftNode &node, const std::vector<size_t> &attributes) {
  WireOutput out;
  size_t at = 0;
  eachField(node.part.content(), [&](const WireField &field, StringRef encoded) {
    if (field.number != 5 || !llvm::is_contained(attributes, at++))
      out.raw(encoded);
  });
  return OnnxDraft::nodeOf(OnnxPart(node.part.field, "", out.bytes));
}

//===-- Tensors -------------------------------------------------------------------------------===//

const OnnxTensor *largeTensor(const OnnxDraft &draft, const OnnxPart &initializer) {
  for (const OnnxTensor &tensor : draft.model->graph.initializers)
    if (tensor.message.data() == initializer.content().data())
      return elementCount(tensor.dims).value_or(0) >= kLargeTensor ? &tensor : nullptr;
  return nullptr;
}

/// One element that is 1, in the layout of raw_data; empty for types that are too rare to matter.
static std::string one(OnnxElementType type) {
  switch (type) {
  case OnnxElementType::Float:
    return std::string("\0\0\x80\x3f", 4);
  case OnnxElementType::Double:
    return std::string("\0\0\0\0\0\0\xf0\x3f", 8);
  case OnnxElementType::Float16:
    return std::string("\0\x3c", 2);
  case OnnxElementType::BFloat16:
    return std::string("\x80\x3f", 2);
  case OnnxElementType::UInt8:
  case OnnxElementType::Int8:
  case OnnxElementType::Bool:
    return std::string("\1", 1);
  case OnnxElementType::UInt16:
  case OnnxElementType::Int16:
    return std::string("\1\0", 2);
  case OnnxElementType::UInt32:
  case OnnxElementType::Int32:
    return std::string("\1\0\0\0", 4);
  case OnnxElementType::UInt64:
  case OnnxElementType::Int64:
    return std::string("\1\0\0\0\0\0\0\0", 8);
  default:
    return "";
  }
}

std::optional<OnnxPart> uniformTensor(const OnnxPart &initializer, const OnnxTensor &tensor,
                                      int value) {
  std::optional<uint64_t> elements = elementCount(tensor.dims);
  std::optional<uint64_t> size =
      elements ? rawByteCount(tensor.elementType, *elements) : std::nullopt;
  std::string element = one(tensor.elementType), bytes;
  if (!size || (value && element.empty()))
    return std::nullopt;
  if (value)
    for (uint64_t i = 0; i < *elements; ++i)
      bytes += element;
  else
    bytes.assign(*size, '\0');
  WireOutput out;
  for (int64_t dim : tensor.dims)
    out.integer(1, dim);
  out.integer(2, int64_t(tensor.elementType));
  out.text(8, initializer.name);
  out.text(9, bytes);
  return OnnxPart(initializer.field, initializer.name, out.bytes);
}

OnnxPart inputFor(const OnnxTensor &tensor) {
  WireOutput shape, type, whole;
  for (int64_t dim : tensor.dims) {
    WireOutput each;
    each.integer(1, dim);
    shape.text(1, each.bytes);
  }
  type.integer(1, int64_t(tensor.elementType));
  type.text(2, shape.bytes);
  whole.text(1, type.bytes);
  return valueInfo(11, tensor.name.str(), {{tensor.name.str(), whole.bytes}});
}

} // namespace weft
