//===- WriteOnnx.cpp - A strategy in the user's own ONNX file ---------------------------------===//
//
//   before   y = MatMul(x, w)
//   after    y = MatMul(DequantizeLinear(QuantizeLinear(x)), DequantizeLinear(bytes))
//
// Where the input is rounded for what else reads it, too, those nodes read what is restored as
// well.
//
// The form that other engines compute in integers. Everything else in the file stays as it is, but
// what nothing reads.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/WriteOnnx.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/file/WireOutput.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/quantize/Strategy.h"
#include "compiler/quantize/StrategyLines.h"
#include "compiler/reduce/OnnxDraft.h"
#include "compiler/reduce/WriteProgram.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <set>

using namespace mlir;

namespace weft {
namespace {

/// Numbers of fields and kinds in onnx.proto.
enum Field : unsigned {
  NodeInput = 1,
  NodeOutput = 2,
  NodeName = 3,
  NodeOperator = 4,
  NodeAttribute = 5,
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
enum Element : int64_t { F32 = 1, U8 = 2, I8 = 3 };
constexpr int64_t kSignedZero = 128; ///< of unsigned bytes that stand for signed ones
constexpr int64_t kIntegerKind = 2, kLeastOpset = 13; // scales along an axis
constexpr StringLiteral kWritten[] = {"Conv", "Gemm", "MatMul"};

std::string textOf(StringRef message, unsigned number) {
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  for (WireField field; cursor.next(field);)
    if (field.number == number)
      return std::string(field.bytes.data(), field.bytes.size());
  return "";
}

template <typename Number>
OnnxPart tensorOf(const std::string &name, Element element, ArrayRef<int64_t> dims,
                  ArrayRef<Number> numbers) {
  WireOutput out;
  for (int64_t dim : dims)
    out.integer(TensorDim, dim);
  out.integer(TensorElement, element);
  out.text(TensorName, name);
  out.text(TensorRaw, StringRef(reinterpret_cast<const char *>(numbers.data()),
                                numbers.size() * sizeof(Number)));
  return OnnxPart(GraphInitializer, name, out.bytes);
}

/// A node whose name is that of its result.
OnnxDraftNode nodeOf(StringRef type, ArrayRef<std::string> inputs, const std::string &output,
                     std::optional<int64_t> axis = std::nullopt) {
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

/// The node with other names for its first two inputs.
OnnxDraftNode reading(const OnnxDraftNode &node, const std::string &x, const std::string &weight) {
  WireOutput out;
  StringRef message = node.part.content();
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  size_t at = 0;
  for (WireField field; cursor.next(field);)
    if (field.number == NodeInput && at < 2)
      out.text(NodeInput, at++ == 0 ? x : weight);
    else
      out.raw(StringRef(field.start, size_t(cursor.position() - field.start)));
  return OnnxDraft::nodeOf(OnnxPart(node.part.field, "", out.bytes));
}

/// The node with another name for each of its inputs that is `from`.
OnnxDraftNode renamed(const OnnxDraftNode &node, const std::string &from, const std::string &to) {
  WireOutput out;
  StringRef message = node.part.content();
  WireCursor cursor(ArrayRef<char>(message.data(), message.size()));
  for (WireField field; cursor.next(field);)
    if (field.number == NodeInput && StringRef(field.bytes.data(), field.bytes.size()) == from)
      out.text(NodeInput, to);
    else
      out.raw(StringRef(field.start, size_t(cursor.position() - field.start)));
  return OnnxDraft::nodeOf(OnnxPart(node.part.field, "", out.bytes));
}

class QdqWriter {
public:
  QdqWriter(OnnxDraft &draft, const Module &module, const std::vector<IntegerLayer> &layers)
      : draft(draft), module(module) {
    for (const IntegerLayer &layer : layers) {
      operations.insert(layer.op);
      names.insert(nodeNameOf(layer.op));
    }
  }

  /// Of a layer in integers. An error where ONNX, or this writer, cannot say what the line does.
  llvm::Error add(const StrategyLine &line, const IntegerLayer &layer) {
    std::string name = nodeNameOf(layer.op);
    if (line.form == StrategyLine::Rows)
      return readError("layer '" + name + "' has rows with scales of their own, which QDQ files " +
                       "cannot say");
    if (line.form == StrategyLine::Blocks)
      return readError("layer '" + name + "' has a weight in blocks, which QDQ files cannot say");
    size_t at = 0;
    if (std::optional<std::string> why = find(layer, at))
      return readError("node '" + name + "' " + *why);
    bool isEverywhere = line.form == StrategyLine::Everywhere;
    const std::string x = draft.nodes[at].inputs[0], own = ownNames(at);
    if (isEverywhere) {
      if (std::optional<std::string> why = otherReader(layer, at))
        return readError("node '" + name + "' " + *why);
      if (done.insert(x).second)
        for (size_t reader : readersOf(x))
          draft.nodes[reader] = renamed(draft.nodes[reader], x, own + "restored");
      at += insertAll(behind(x), roundedInput(own, x, line));
    }
    insert(at, line, layer, weightOf(layer));
    return llvm::Error::success();
  }

  /// Why what else reads the input cannot read it rounded: nodes of the file that do are those of
  /// the program's operators that do, unless nodes in between stand for nothing there.
  std::optional<std::string> otherReader(const IntegerLayer &layer, size_t at) const {
    const std::string &x = draft.nodes[at].inputs[0];
    std::set<std::string> ofProgram, ofFile;
    for (Operation *user : layer.input.getUsers())
      if (!operations.contains(user) && !user->hasTrait<OpTrait::ReturnLike>())
        ofProgram.insert(nodeNameOf(user));
    std::vector<size_t> readers = readersOf(x);
    for (size_t reader : readers)
      ofFile.insert(textOf(draft.nodes[reader].part.content(), NodeName));
    bool isCaptured = llvm::any_of(draft.nodes, [&](const OnnxDraftNode &node) {
      return llvm::is_contained(node.captured, x);
    });
    if (isCaptured || ofProgram != ofFile || ofFile.size() != readers.size())
      return "reads what other nodes read in another form, which cannot be rounded for them";
    return std::nullopt;
  }

  /// The position of a layer's node, or what it is or does that keeps it from being written.
  std::optional<std::string> find(const IntegerLayer &layer, size_t &at) const {
    std::string name = nodeNameOf(layer.op);
    bool isFound = false;
    for (auto [i, node] : llvm::enumerate(draft.nodes)) {
      if (textOf(node.part.content(), NodeName) != name)
        continue;
      if (isFound)
        return "has a name that several nodes of the file have";
      isFound = true;
      at = i;
    }
    if (!isFound)
      return "is none of the file's graph";
    std::string type = textOf(draft.nodes[at].part.content(), NodeOperator);
    if (!llvm::is_contained(kWritten, type))
      return "is of type " + type + ", but only " + llvm::join(ArrayRef(kWritten), ", ") +
             " are written in integers";
    return otherWeight(draft.nodes[at], layer);
  }

private:
  std::string ownNames(size_t at) const { return draft.nodes[at].outputs[0] + "/weft/"; }

  /// Nodes that read a value and are no layers.
  std::vector<size_t> readersOf(const std::string &value) const {
    std::vector<size_t> readers;
    for (auto [i, node] : llvm::enumerate(draft.nodes))
      if (llvm::is_contained(node.inputs, value) &&
          !names.count(textOf(node.part.content(), NodeName)))
        readers.push_back(i);
    return readers;
  }

  /// The position behind the node that computes a value; the first for what none does.
  size_t behind(const std::string &value) const {
    for (auto [i, node] : llvm::enumerate(draft.nodes))
      if (llvm::is_contained(node.outputs, value))
        return i + 1;
    return 0;
  }

  size_t insertAll(size_t at, const std::vector<OnnxDraftNode> &made) {
    draft.nodes.insert(draft.nodes.begin() + ptrdiff_t(at), made.begin(), made.end());
    return made.size();
  }

  /// Bytes that stand for a value, and what they are restored to.
  std::vector<OnnxDraftNode> roundedInput(const std::string &own, const std::string &x,
                                          const StrategyLine &line) {
    draft.initializers.push_back(tensorOf<float>(own + "scale", F32, {}, {line.scale}));
    draft.initializers.push_back(
        line.rounding.isSigned
            ? tensorOf<int8_t>(own + "zero", I8, {}, {int8_t(line.zero - kSignedZero)})
            : tensorOf<uint8_t>(own + "zero", U8, {}, {uint8_t(line.zero)}));
    return {
        nodeOf("QuantizeLinear", {x, own + "scale", own + "zero"}, own + "bytes"),
        nodeOf("DequantizeLinear", {own + "bytes", own + "scale", own + "zero"}, own + "restored")};
  }

  std::vector<float> weightOf(const IntegerLayer &layer) const {
    return floatsOf(layer.weight, [&](StringRef each) { return module.get().weightBytes(each); });
  }

  /// Nothing where what the program multiplies with is the node's second input, as it stands in the
  /// file.
  std::optional<std::string> otherWeight(const OnnxDraftNode &node,
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

  void insert(size_t at, const StrategyLine &line, const IntegerLayer &layer,
              ArrayRef<float> weight) {
    OnnxDraftNode node = draft.nodes[at];
    std::string own = ownNames(at), x = node.inputs[0];
    std::vector<OnnxDraftNode> made;
    if (!line.factors.empty()) {
      std::vector<float> inverse;
      for (float factor : line.factors)
        inverse.push_back(1 / factor);
      SmallVector<int64_t> dims(cast<SymTensorType>(layer.input.getType()).getRank(), 1);
      dims[*layer.inputChannel] = int64_t(inverse.size());
      draft.initializers.push_back(tensorOf<float>(own + "inverse", F32, dims, inverse));
      made.push_back(nodeOf("Mul", {x, own + "inverse"}, own + "equalised"));
      x = own + "equalised";
    }
    if (line.form != StrategyLine::Everywhere) // which has it already, in front of all who read it
      llvm::append_range(made, roundedInput(own, x, line));
    ByteWeight rounded = roundWeight(layer, weight, line.factors, line.rounding);
    SmallVector<int64_t> columns; // one scale for all has no dimension
    if (!line.rounding.hasOneScale)
      columns.push_back(int64_t(rounded.scales.size()));
    auto dims = *cast<SymTensorType>(layer.weight.getResult().getType()).getConstantDims();
    std::vector<int8_t> zeros(rounded.scales.size(), 0);
    draft.initializers.push_back(tensorOf<int8_t>(own + "weight_bytes", I8, dims, rounded.bytes));
    draft.initializers.push_back(
        tensorOf<float>(own + "weight_scale", F32, columns, rounded.scales));
    draft.initializers.push_back(tensorOf<int8_t>(own + "weight_zero", I8, columns, zeros));
    made.push_back(
        nodeOf("DequantizeLinear",
               {own + "weight_bytes", own + "weight_scale", own + "weight_zero"}, own + "weight",
               line.rounding.hasOneScale ? std::nullopt : std::optional<int64_t>(layer.column)));
    draft.nodes[at] = reading(node, own + "restored", own + "weight");
    insertAll(at, made);
  }

  OnnxDraft &draft;
  const Module &module;
  llvm::SmallPtrSet<Operation *, 32> operations; ///< all layers
  std::set<std::string> names;                   ///< of their nodes
  std::set<std::string> done;                    ///< what is rounded for all who read it
};

llvm::Expected<OnnxDraft> draftOf(const std::string &model) {
  llvm::Expected<OnnxDraft> draft = OnnxDraft::read(model);
  if (draft && draft->model->opsetVersion("").value_or(0) < kLeastOpset)
    return readError(model + ": a file of operators before version 13 cannot say scales by column");
  return draft;
}

llvm::Error writeQdq(const Module &module, const std::string &strategy, const std::string &model,
                     const std::string &path) {
  llvm::Expected<std::vector<StrategyLine>> lines = parseStrategy(strategy, "the strategy");
  if (!lines)
    return lines.takeError();
  llvm::Expected<OnnxDraft> draft = draftOf(model);
  if (!draft)
    return draft.takeError();
  Result<func::FuncOp> function = calledFunction(module);
  std::vector<IntegerLayer> layers = integerLayers(*function);
  QdqWriter writer(*draft, module, layers);
  for (const StrategyLine &line : *lines)
    if (line.form == StrategyLine::Bytes)
      return readError("table '" + line.node + "' in bytes is not written into ONNX files");
    else if (line.form != StrategyLine::F32)
      if (llvm::Error error = writer.add(line, layers[size_t(line.layer)]))
        return error;
  draft->prune();
  llvm::Expected<std::string> bytes = draft->serialize();
  return bytes ? writeWhole(path, *bytes) : bytes.takeError();
}

} // namespace

llvm::Expected<OnnxRefusals> refusedByOnnx(const Module &module,
                                           const std::vector<IntegerLayer> &layers,
                                           const std::string &model) {
  llvm::Expected<OnnxDraft> draft = draftOf(model);
  if (!draft)
    return draft.takeError();
  QdqWriter writer(*draft, module, layers);
  OnnxRefusals why;
  for (const IntegerLayer &layer : layers) {
    size_t at = 0;
    why.layers.push_back(writer.find(layer, at).value_or(""));
    why.everywhere.push_back(why.layers.back().empty() ? writer.otherReader(layer, at).value_or("")
                                                       : why.layers.back());
  }
  return why;
}

Result<void> writeOnnx(const Module &module, const std::string &strategy, const std::string &model,
                       const std::string &path) {
  if (llvm::Error problem = writeQdq(module, strategy, model, path))
    return quantizeError("W0326", llvm::toString(std::move(problem)));
  return {};
}

} // namespace weft
