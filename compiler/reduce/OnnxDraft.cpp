//===- OnnxDraft.cpp --------------------------------------------------------------------------===//

#include "compiler/reduce/OnnxDraft.h"
#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/file/WireOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace weft {
namespace {

/// Numbers of fields in onnx.proto.
enum Field : unsigned {
  ModelGraph = 7,
  GraphNode = 1,
  GraphInitializer = 5,
  GraphInput = 11,
  GraphOutput = 12,
  GraphValueInfo = 13,
  GraphSparse = 15,
  NodeInput = 1,
  NodeOutput = 2,
  NodeAttribute = 5,
  AttributeGraph = 6,
  AttributeGraphs = 11,
  TensorName = 8,
  TensorRaw = 9,
  TensorExternal = 13,
  TensorLocation = 14,
  ValueName = 1,
};

StringRef textOf(const WireField &field) { return {field.bytes.data(), field.bytes.size()}; }

/// Calls `use` with every field and its encoded form. The file was read before: it is well-formed.
void eachField(StringRef message, function_ref<void(const WireField &, StringRef)> use) {
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  for (WireField field; cursor.next(field);)
    use(field, StringRef(field.start, size_t(cursor.position() - field.start)));
}

std::string nameIn(StringRef message, unsigned number) {
  std::string name;
  eachField(message, [&](const WireField &field, StringRef) {
    if (field.number == number && field.type == WireType::Bytes)
      name = textOf(field).str();
  });
  return name;
}

void collectFree(StringRef graph, StringSet<> &read);

/// What the node reads by name: its inputs, and what its subgraphs take from outside.
void collectReads(StringRef node, StringSet<> &inputs, StringSet<> &captured) {
  eachField(node, [&](const WireField &field, StringRef) {
    if (field.number == NodeInput)
      inputs.insert(textOf(field));
    if (field.number == NodeAttribute)
      eachField(textOf(field), [&](const WireField &inner, StringRef) {
        if (inner.type == WireType::Bytes &&
            (inner.number == AttributeGraph || inner.number == AttributeGraphs))
          collectFree(textOf(inner), captured);
      });
  });
}

/// Names that a graph reads and does not define. ONNX has no shadowing.
void collectFree(StringRef graph, StringSet<> &read) {
  StringSet<> used, defined;
  eachField(graph, [&](const WireField &field, StringRef) {
    StringRef content = textOf(field);
    if (field.number == GraphNode) {
      collectReads(content, used, used);
      eachField(content, [&](const WireField &inner, StringRef) {
        if (inner.number == NodeOutput)
          defined.insert(textOf(inner));
      });
    } else if (field.number == GraphInitializer) {
      defined.insert(nameIn(content, TensorName));
    } else if (field.number == GraphInput) {
      defined.insert(nameIn(content, ValueName));
    } else if (field.number == GraphOutput) {
      used.insert(nameIn(content, ValueName));
    }
  });
  for (const auto &name : used)
    if (!name.getKey().empty() && !defined.contains(name.getKey()))
      read.insert(name.getKey());
}

/// The tensor with its bytes inside; nothing when they are there already.
Expected<std::optional<std::string>> withContents(const OnnxPart &part, const OnnxModel &model) {
  const OnnxTensor *tensor = nullptr;
  for (const OnnxTensor &each : model.graph.initializers)
    if (each.message.data() == part.content().data())
      tensor = &each;
  if (!tensor || tensor->storage != OnnxTensor::Storage::External)
    return std::nullopt;
  Expected<TensorBytes> bytes = OnnxTensorData(model).read(*tensor);
  if (!bytes)
    return bytes.takeError();
  WireOutput out;
  eachField(part.content(), [&](const WireField &field, StringRef encoded) {
    if (field.number != TensorExternal && field.number != TensorLocation)
      out.raw(encoded);
  });
  out.text(TensorRaw, StringRef(bytes->bytes.data(), bytes->bytes.size()));
  return out.bytes;
}

void readGraph(StringRef graph, OnnxDraft &draft) {
  eachField(graph, [&](const WireField &field, StringRef encoded) {
    StringRef content = textOf(field);
    switch (field.number) {
    case GraphNode:
      draft.nodes.push_back(OnnxDraft::nodeOf({field.number, "", content}));
      break;
    case GraphInitializer:
      draft.initializers.push_back({field.number, nameIn(content, TensorName), content});
      break;
    case GraphInput:
      draft.inputs.push_back({field.number, nameIn(content, ValueName), content});
      break;
    case GraphOutput:
      draft.outputs.push_back({field.number, nameIn(content, ValueName), content});
      break;
    case GraphValueInfo:
      draft.valueInfos.push_back({field.number, nameIn(content, ValueName), content});
      break;
    default:
      draft.graphFields.push_back({field.number, encoded});
    }
  });
}

} // namespace

std::vector<std::string> OnnxDraftNode::reads() const {
  std::vector<std::string> names;
  for (const std::vector<std::string> *list : {&inputs, &captured})
    for (const std::string &name : *list)
      if (!name.empty())
        names.push_back(name);
  return names;
}

OnnxDraftNode OnnxDraft::nodeOf(OnnxPart part) {
  OnnxDraftNode node{std::move(part), {}, {}, {}};
  StringSet<> inputs, captured;
  collectReads(node.part.content(), inputs, captured);
  eachField(node.part.content(), [&](const WireField &field, StringRef) {
    if (field.number == NodeInput)
      node.inputs.push_back(textOf(field).str());
    if (field.number == NodeOutput)
      node.outputs.push_back(textOf(field).str());
  });
  for (const auto &name : captured)
    node.captured.push_back(name.getKey().str());
  llvm::sort(node.captured);
  return node;
}

OnnxDraft OnnxDraft::ofGraph(StringRef graph) {
  OnnxDraft draft;
  readGraph(graph, draft);
  return draft;
}

Expected<OnnxDraft> OnnxDraft::read(const std::string &path, const Limits &limits) {
  Expected<OnnxModel> model = readOnnxFile(path, limits);
  if (!model)
    return model.takeError();
  OnnxDraft draft;
  draft.model = std::make_shared<const OnnxModel>(std::move(*model));
  ArrayRef<char> file = draft.model->file->bytes();
  eachField(StringRef(file.data(), file.size()), [&](const WireField &field, StringRef encoded) {
    if (field.number == ModelGraph)
      readGraph(textOf(field), draft);
    else
      draft.modelFields.push_back({field.number, encoded});
  });
  draft.prune();
  return draft;
}

void OnnxDraft::prune() {
  StringSet<> needed;
  for (const OnnxPart &output : outputs)
    needed.insert(output.name);
  std::map<std::string, size_t> makers;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const std::string &name : node.outputs)
      makers[name] = i;
  std::vector<bool> isNeeded(nodes.size());
  std::vector<std::string> open;
  for (const OnnxPart &output : outputs)
    open.push_back(output.name);
  while (!open.empty()) {
    auto maker = makers.find(open.back());
    open.pop_back();
    if (maker == makers.end() || isNeeded[maker->second])
      continue;
    isNeeded[maker->second] = true;
    for (const std::string &name : nodes[maker->second].reads()) {
      needed.insert(name);
      open.push_back(name);
    }
  }
  size_t at = 0;
  llvm::erase_if(nodes, [&](const OnnxDraftNode &) { return !isNeeded[at++]; });
  StringSet<> made;
  for (const OnnxDraftNode &node : nodes)
    for (const std::string &name : node.outputs)
      made.insert(name);
  auto isUnknown = [&](const OnnxPart &part) { return !needed.contains(part.name); };
  llvm::erase_if(initializers, isUnknown);
  llvm::erase_if(valueInfos, [&](const OnnxPart &part) {
    return isUnknown(part) || !made.contains(part.name);
  });
}

Expected<std::string> OnnxDraft::serialize() const {
  WireOutput graph, file;
  for (const OnnxDraftNode &node : nodes)
    graph.text(node.part.field, node.part.content());
  for (auto [number, encoded] : graphFields)
    graph.raw(encoded);
  for (const OnnxPart &tensor : initializers) {
    Expected<std::optional<std::string>> whole = withContents(tensor, *model);
    if (!whole)
      return whole.takeError();
    graph.text(tensor.field, *whole ? StringRef(**whole) : tensor.content());
  }
  for (const std::vector<OnnxPart> *list : {&inputs, &outputs, &valueInfos})
    for (const OnnxPart &part : *list)
      graph.text(part.field, part.content());
  for (auto [number, encoded] : modelFields)
    file.raw(encoded);
  file.text(ModelGraph, graph.bytes);
  return file.bytes;
}

} // namespace weft
