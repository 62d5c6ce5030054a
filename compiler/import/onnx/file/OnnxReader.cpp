//===- OnnxReader.cpp - Models, graphs, functions and nodes -----------------------------------===//

#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/onnx/file/OnnxParser.h"
#include "compiler/import/readers/ReadError.h"

using namespace llvm;

namespace weft {

OnnxLimits::OnnxLimits(const Limits &limits) : nodes(limits.nodes), depth(limits.nesting) {
  double share = double(nodes) / double(Limits().nodes);
  for (uint64_t *each : {&attributes, &tensors, &values, &functions, &listItems})
    if (share > 1) // a file is never so large that a double could not count what is in it
      *each = uint64_t(std::min(double(*each) * share, 0x1p62));
}

Expected<OnnxModel> readOnnxFile(StringRef path, const OnnxLimits &limits) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return readOnnx(std::move(*file), limits);
}

Expected<OnnxModel> readOnnx(std::shared_ptr<MappedFile> file, const OnnxLimits &limits) {
  OnnxModel model;
  model.file = std::move(file);
  OnnxParser parser(*model.file, limits);
  if (parser.parseModel(model))
    return model;
  if (parser.isOverLimit())
    return limitError(parser.error());
  StringRef bytes(model.file->bytes().data(), model.file->size());
  if (bytes.starts_with("version https://git-lfs"))
    return readError(notAModel(*model.file) + "it is a pointer to one ('git lfs pull' fetches it)");
  return readError(isText(bytes) && !bytes.empty() ? notAModel(*model.file) + "it is text"
                                                   : parser.error());
}

/// Of those that models have, which files of other kinds rarely begin with.
static bool isModelField(unsigned number) { return (number >= 1 && number <= 8) || number == 14; }

bool OnnxParser::parseModel(OnnxModel &model) {
  if (file.size() == 0)
    return fail(nullptr, "it is empty");
  bool hasGraph = false;
  bool wellFormed = eachField(file.bytes(), [&](const WireField &field) {
    bool read = parseModelField(field, model, hasGraph);
    isModel |= read && isModelField(field.number);
    return read;
  });
  if (!wellFormed)
    return false;
  if (!hasGraph)
    return fail(nullptr,
                isModel ? "has no graph, so it is not a whole ONNX model" : "it has no graph");
  return !model.opsets.empty() ||
         fail(nullptr, "states no operator set version; is the file truncated?");
}

bool OnnxParser::parseModelField(const WireField &field, OnnxModel &model, bool &hasGraph) {
  switch (field.number) {
  case 1:
    return readInt(field, model.irVersion);
  case 2:
    return readText(field, model.producerName);
  case 3:
    return readText(field, model.producerVersion);
  case 7:
    if (hasGraph)
      return fail(field.start, "the model has two graphs");
    hasGraph = true;
    return expect(field, WireType::Bytes) && parseGraph(field.bytes, model.graph);
  case 8:
    return appendOpset(field, model.opsets);
  case 14: {
    auto &[key, value] = model.metadata.emplace_back();
    return count(field.start, listItems, limits.listItems, "list items") &&
           expect(field, WireType::Bytes) && parseEntry(field.bytes, key, value);
  }
  case 25: {
    OnnxFunction &function = model.functions.emplace_back();
    Place here(*this, "function", model.functions.size() - 1, &function.name);
    return count(field.start, functions, limits.functions, "functions") &&
           expect(field, WireType::Bytes) && parseFunction(field.bytes, function);
  }
  default: // Training and device placement do not change what the graph computes.
    return true;
  }
}

bool OnnxParser::parseGraph(ArrayRef<char> bytes, OnnxGraph &graph) {
  if (!enter(bytes.begin()))
    return false;
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return appendNode(field, graph.nodes);
    case 2:
      return readName(field, graph.name);
    case 5:
      return appendTensor(field, "initializer", graph.initializers);
    case 11:
      return appendValueInfo(field, "input", graph.inputs);
    case 12:
      return appendValueInfo(field, "output", graph.outputs);
    case 13:
      return appendValueInfo(field, "value", graph.valueInfo);
    case 15:
      return appendSparse(field, "sparse initializer", graph.sparseInitializers);
    default:
      return true;
    }
  });
  --depth;
  return wellFormed;
}

bool OnnxParser::parseFunction(ArrayRef<char> bytes, OnnxFunction &function) {
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return readName(field, function.name);
    case 4:
      return appendName(field, function.inputs);
    case 5:
      return appendName(field, function.outputs);
    case 6:
      return appendName(field, function.attributes);
    case 7:
      return appendNode(field, function.nodes);
    case 9:
      return appendOpset(field, function.opsets);
    case 10:
      return readDomain(field, function.domain);
    case 11:
      return appendAttribute(field, function.attributeDefaults);
    case 12:
      return appendValueInfo(field, "value", function.valueInfo);
    case 13:
      return readName(field, function.overload);
    default:
      return true;
    }
  });
  return wellFormed && (!function.name.empty() || fail(bytes.begin(), "the function has no name"));
}

bool OnnxParser::appendNode(const WireField &field, std::vector<OnnxNode> &graphNodes) {
  OnnxNode &node = graphNodes.emplace_back();
  node.fileOffset = file.offsetOf(field.start);
  Place here(*this, "node", graphNodes.size() - 1, &node.name);
  return countNode(field.start) && expect(field, WireType::Bytes) && parseNode(field.bytes, node);
}

bool OnnxParser::parseNode(ArrayRef<char> bytes, OnnxNode &node) {
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return appendName(field, node.inputs);
    case 2:
      return appendName(field, node.outputs);
    case 3:
      return readName(field, node.name);
    case 4:
      return readName(field, node.opType);
    case 5:
      return appendAttribute(field, node.attributes);
    case 7:
      return readDomain(field, node.domain);
    case 8:
      return readName(field, node.overload);
    default:
      return true;
    }
  });
  return wellFormed &&
         (!node.opType.empty() || fail(bytes.begin(), "the node does not name its operator"));
}

bool OnnxParser::appendOpset(const WireField &field, std::vector<OnnxOpset> &opsets) {
  OnnxOpset opset;
  if (!count(field.start, listItems, limits.listItems, "list items") ||
      !expect(field, WireType::Bytes) || !parseOpset(field.bytes, opset))
    return false;
  for (const OnnxOpset &earlier : opsets)
    if (earlier.domain == opset.domain)
      return earlier.version == opset.version ||
             fail(field.start, "two versions of the operator set " + quotedText(opset.domain));
  opsets.push_back(opset);
  return opsets.size() <= limits.opsets ||
         fail(field.start,
              "more than " + Twine(limits.opsets) + " operator sets, the reader's limit");
}

bool OnnxParser::parseOpset(ArrayRef<char> bytes, OnnxOpset &opset) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == 1)
      return readDomain(field, opset.domain);
    return field.number != 2 || readInt(field, opset.version);
  });
}

bool OnnxParser::parseEntry(ArrayRef<char> bytes, StringRef &key, StringRef &value) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == 1)
      return readText(field, key);
    return field.number != 2 || readText(field, value);
  });
}

bool OnnxParser::appendValueInfo(const WireField &field, const char *kind,
                                 std::vector<OnnxValueInfo> &infos) {
  OnnxValueInfo &info = infos.emplace_back();
  Place here(*this, kind, infos.size() - 1, &info.name);
  return count(field.start, values, limits.values, "values") && expect(field, WireType::Bytes) &&
         parseValueInfo(field.bytes, info);
}

} // namespace weft
