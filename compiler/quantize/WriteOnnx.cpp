//===- WriteOnnx.cpp - A strategy in the user's own ONNX file ---------------------------------===//
//
//   before   y = Conv(x, w, b)
//   after    y = Conv(DequantizeLinear(QuantizeLinear(x)), DequantizeLinear(bytes),
//                     DequantizeLinear(sums))
//
// Where the input is rounded for what else reads it, too, those nodes read what is restored as
// well, and where a result is rounded, whatever reads it does, unless that rounds it for all.
// Channels are divided where they are made, if they can be (FoldFactors.h), else by a Mul.
//
// The form that other engines compute in integers. Everything else in the file stays as it is, but
// what nothing reads.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/WriteOnnx.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/quantize/FoldFactors.h"
#include "compiler/quantize/OnnxLayers.h"
#include "compiler/quantize/PoolBytes.h"
#include "compiler/quantize/Strategy.h"
#include "compiler/quantize/StrategyLines.h"
#include "compiler/reduce/WriteProgram.h"
#include <cmath>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kSignedZero = 128;  ///< of unsigned bytes that stand for signed ones
constexpr int64_t kLeastOpset = 13;   // scales along an axis
constexpr double kMostBias = 1 << 30; ///< of what is added to sums of products

/// The channels that a layer's node reads.
OnnxChannel channelOf(const IntegerLayer &layer, const OnnxDraftNode &node) {
  return {node.inputs[0], int64_t(*layer.inputChannel),
          int64_t(cast<SymTensorType>(layer.input.getType()).getRank())};
}

class QdqWriter {
public:
  QdqWriter(OnnxDraft &draft, const Module &module, const std::vector<IntegerLayer> &layers,
            ArrayRef<StrategyLine> lines)
      : draft(draft), layers(layers), inFileLayers(draft, module, layers), constants(draft) {
    std::map<std::string, bool> hasFreeColumns;
    for (const StrategyLine &line : lines) {
      size_t at = 0;
      if (!hasScale(line) || inFileLayers.find(layers[size_t(line.layer)], at))
        continue;
      std::string name = nameOf(draft.nodes[at]);
      lineOf[name] = &line;
      if (line.form == StrategyLine::Everywhere)
        readsRounded.insert(draft.nodes[at].inputs[0]);
      hasFreeColumns[name] =
          !line.rounding.hasOneScale && !line.rounding.hasPowersOfTwo && line.results.empty();
    }
    fold.emplace(draft, constants, std::move(hasFreeColumns));
  }

  /// Divides channels where they are made, of all layers; before any is added.
  void foldFactors() {
    for (const auto &[name, line] : lineOf) {
      const IntegerLayer &layer = layers[size_t(line->layer)];
      const OnnxDraftNode &node = draft.nodes[nodeAt(name)];
      const std::string x = node.inputs[0];
      if (!line->factors.empty() && !folded.count(x) && allDivide(x, *line) &&
          fold->fold(channelOf(layer, node), line->factors))
        folded.insert(x);
    }
  }

  /// Of a layer in integers. An error where ONNX, or this writer, cannot say what the line does.
  llvm::Error add(const StrategyLine &line) {
    const IntegerLayer &layer = layers[size_t(line.layer)];
    std::string name = nodeNameOf(layer.op);
    if (line.hasRowScales())
      return readError("layer '" + name + "' has rows with scales of their own, which QDQ files " +
                       "cannot say");
    if (line.hasBlocks())
      return readError("layer '" + name + "' has a weight in blocks, which QDQ files cannot say");
    if (line.form == StrategyLine::Half)
      return readError("layer '" + name + "' multiplies bf16, which QDQ files cannot say");
    size_t at = 0;
    if (std::optional<std::string> why = inFileLayers.find(layer, at))
      return readError("node '" + name + "' " + *why);
    std::vector<std::string> given;
    for (const StrategyLine::Result &result : line.results)
      given.push_back(inFileLayers.valueBehind(layer, unsigned(result.behind)));
    if (llvm::is_contained(given, ""))
      return readError("node '" + name + "' gives what is rounded in another form");
    const std::string x = draft.nodes[at].inputs[0];
    if (line.form == StrategyLine::Everywhere && !everywhere.count(x)) {
      if (std::optional<std::string> why = inFileLayers.otherReader(layer, at))
        return readError("node '" + name + "' " + *why);
      roundForOthers(x, line);
    }
    insert(name, line, layer);
    for (auto [value, result] : llvm::zip_equal(given, line.results))
      if (!readsRounded.count(value))
        roundResult(value, result, line.rounding.isSigned);
    return llvm::Error::success();
  }

private:
  static bool hasScale(const StrategyLine &line) {
    return line.form == StrategyLine::Static || line.form == StrategyLine::Everywhere;
  }

  size_t nodeAt(const std::string &name) const {
    auto found =
        llvm::find_if(draft.nodes, [&](const OnnxDraftNode &node) { return nameOf(node) == name; });
    return size_t(found - draft.nodes.begin());
  }

  /// Whether all that read a value are layers that divide its channels by the factors of a line.
  bool allDivide(const std::string &value, const StrategyLine &line) const {
    return isInner(draft, value) && llvm::all_of(draft.nodes, [&](const OnnxDraftNode &node) {
             int64_t reads = llvm::count(node.inputs, value);
             auto found = lineOf.find(nameOf(node));
             return reads == 0 || (reads == 1 && found != lineOf.end() && node.inputs[0] == value &&
                                   found->second->factors == line.factors);
           });
  }

  static std::string ownNames(const std::string &value) { return value + "/weft/"; }

  /// Behind the node that computes a value; in front of all for what none does.
  void insertBehind(const std::string &value, const std::vector<OnnxDraftNode> &made) {
    size_t at = 0;
    for (auto [i, node] : llvm::enumerate(draft.nodes))
      if (llvm::is_contained(node.outputs, value))
        at = i + 1;
    draft.nodes.insert(draft.nodes.begin() + ptrdiff_t(at), made.begin(), made.end());
  }

  /// Bytes that stand for a value, and what they are restored to.
  std::vector<OnnxDraftNode> rounded(const std::string &own, const std::string &x, float scale,
                                     int64_t zero, bool isSigned) {
    draft.initializers.push_back(
        tensorOf<float>(own + "scale", OnnxElementType::Float, {}, {scale}));
    draft.initializers.push_back(
        isSigned ? tensorOf<int8_t>(own + "zero", OnnxElementType::Int8, {},
                                    {int8_t(zero - kSignedZero)})
                 : tensorOf<uint8_t>(own + "zero", OnnxElementType::UInt8, {}, {uint8_t(zero)}));
    return {
        nodeOf("QuantizeLinear", {x, own + "scale", own + "zero"}, own + "bytes"),
        nodeOf("DequantizeLinear", {own + "bytes", own + "scale", own + "zero"}, own + "restored")};
  }

  /// What is no layer reads a value rounded as layers do.
  void roundForOthers(const std::string &x, const StrategyLine &line) {
    std::vector<size_t> others = inFileLayers.othersReading(x);
    everywhere.insert(x);
    size_t before = draft.nodes.size();
    std::string restored = restoredInput(x, line, nullptr);
    for (size_t other : others) { // all of them behind what was inserted
      OnnxDraftNode &node = draft.nodes[other + draft.nodes.size() - before];
      std::vector<std::string> inputs = node.inputs;
      std::replace(inputs.begin(), inputs.end(), x, restored);
      node = reading(node, inputs);
    }
  }

  /// The value as a layer reads it. Layers that read it alike share the nodes.
  std::string restoredInput(const std::string &x, const StrategyLine &line,
                            const IntegerLayer *layer) {
    bool isDivided = !line.factors.empty() && !folded.count(x);
    auto key = std::make_tuple(x, line.scale, line.zero, line.rounding.isSigned,
                               isDivided ? line.factors : std::vector<float>());
    std::string &restored = inputs[key];
    if (!restored.empty())
      return restored;
    size_t count = size_t(llvm::count_if(inputs, [&](const auto &each) {
      return std::get<0>(each.first) == x && !each.second.empty();
    }));
    std::string own = ownNames(x) + (count > 0 ? std::to_string(count) + "/" : ""), read = x;
    std::vector<OnnxDraftNode> made;
    if (isDivided) {
      made.push_back(divided(own, x, line, *layer));
      read = made.back().outputs[0];
    }
    llvm::append_range(made, rounded(own, read, line.scale, line.zero, line.rounding.isSigned));
    insertBehind(x, made);
    return restored = own + "restored";
  }

  OnnxDraftNode divided(const std::string &own, const std::string &x, const StrategyLine &line,
                        const IntegerLayer &layer) {
    std::vector<float> inverse;
    for (float factor : line.factors)
      inverse.push_back(1 / factor);
    SmallVector<int64_t> dims(cast<SymTensorType>(layer.input.getType()).getRank(), 1);
    dims[*layer.inputChannel] = int64_t(inverse.size());
    draft.initializers.push_back(
        tensorOf<float>(own + "inverse", OnnxElementType::Float, dims, inverse));
    return nodeOf("Mul", {x, own + "inverse"}, own + "equalised");
  }

  void insert(const std::string &name, const StrategyLine &line, const IntegerLayer &layer) {
    OnnxDraftNode node = draft.nodes[nodeAt(name)];
    std::string own = ownNames(node.outputs[0]);
    ByteWeight weight =
        roundWeight(layer, inFileLayers.weightOf(layer), line.factors, line.rounding);
    ArrayRef<float> columns = fold->columnsOf(name); // whose bytes stay what they are
    for (size_t i = 0; i < columns.size(); ++i)
      weight.scales[i] /= columns[i];
    std::vector<std::string> reads = node.inputs;
    reads[0] = restoredInput(node.inputs[0], line, &layer);
    std::vector<OnnxDraftNode> made{restoredWeight(own, line, layer, weight)};
    reads[1] = made.back().outputs[0];
    if (std::optional<OnnxDraftNode> bias = restoredBias(node, line, weight.scales)) {
      made.push_back(*bias);
      reads[2] = bias->outputs[0];
    }
    size_t at = nodeAt(name);
    draft.nodes[at] = reading(node, reads);
    draft.nodes.insert(draft.nodes.begin() + ptrdiff_t(at), made.begin(), made.end());
  }

  OnnxDraftNode restoredWeight(const std::string &own, const StrategyLine &line,
                               const IntegerLayer &layer, const ByteWeight &weight) {
    SmallVector<int64_t> columns; // one scale for all has no dimension
    if (!line.rounding.hasOneScale)
      columns.push_back(int64_t(weight.scales.size()));
    auto dims = *cast<SymTensorType>(layer.weight.getResult().getType()).getConstantDims();
    std::vector<int8_t> zeros(weight.scales.size(), 0);
    draft.initializers.push_back(
        tensorOf<int8_t>(own + "weight_bytes", OnnxElementType::Int8, dims, weight.bytes));
    draft.initializers.push_back(
        tensorOf<float>(own + "weight_scale", OnnxElementType::Float, columns, weight.scales));
    draft.initializers.push_back(
        tensorOf<int8_t>(own + "weight_zero", OnnxElementType::Int8, columns, zeros));
    return nodeOf("DequantizeLinear",
                  {own + "weight_bytes", own + "weight_scale", own + "weight_zero"}, own + "weight",
                  line.rounding.hasOneScale ? std::nullopt : std::optional<int64_t>(layer.column));
  }

  /// What a node adds to its products, in units of their sums, as engines add integers; nothing
  /// where it adds nothing, or what is none of 32 bits.
  std::optional<OnnxDraftNode> restoredBias(const OnnxDraftNode &node, const StrategyLine &line,
                                            ArrayRef<float> weightScales) {
    const OnnxNode *read = inFile(draft, node);
    std::optional<FloatTensor> bias;
    if (node.inputs.size() > 2 && read && floatOf(*read, "beta", 1) == 1)
      bias = constants.find(node.inputs[2]);
    if (!bias || bias->dims.size() != 1 ||
        (weightScales.size() > 1 && bias->numbers.size() != weightScales.size()))
      return std::nullopt;
    std::vector<float> scales;
    for (float scale : weightScales)
      scales.push_back(scale * line.scale * floatOf(*read, "alpha", 1));
    std::vector<int32_t> sums;
    for (auto [i, number] : llvm::enumerate(bias->numbers)) {
      float scale = scales[i % scales.size()];
      double sum = double(number) / double(scale);
      if (!(scale > 0) || !(std::fabs(sum) <= kMostBias))
        return std::nullopt;
      sums.push_back(int32_t(std::nearbyint(sum)));
    }
    std::string own = ownNames(node.outputs[0]);
    SmallVector<int64_t> columns;
    if (!line.rounding.hasOneScale)
      columns.push_back(int64_t(scales.size()));
    draft.initializers.push_back(
        tensorOf<int32_t>(own + "bias_sums", OnnxElementType::Int32, bias->dims, sums));
    draft.initializers.push_back(
        tensorOf<float>(own + "bias_scale", OnnxElementType::Float, columns, scales));
    return nodeOf("DequantizeLinear", {own + "bias_sums", own + "bias_scale"}, own + "bias",
                  columns.empty() ? std::nullopt : std::optional<int64_t>(0));
  }

  /// Whatever reads a value reads it rounded under its name.
  void roundResult(const std::string &value, const StrategyLine::Result &result, bool isSigned) {
    std::string own = ownNames(value) + "given/";
    std::vector<OnnxDraftNode> made =
        rounded(own, own + "result", result.scale, result.zero, isSigned);
    made.back() = giving(made.back(), value);
    for (OnnxDraftNode &node : draft.nodes)
      if (!node.outputs.empty() && node.outputs[0] == value)
        node = giving(node, own + "result");
    insertBehind(own + "result", made);
  }

  OnnxDraft &draft;
  const std::vector<IntegerLayer> &layers;
  const OnnxLayers inFileLayers;
  OnnxConstants constants;
  std::map<std::string, const StrategyLine *> lineOf; ///< by node of a layer with one scale
  std::optional<FactorFold> fold;
  std::set<std::string> folded;       ///< values whose channels are divided where they are made
  std::set<std::string> readsRounded; ///< values that are to be rounded for all who read them
  std::set<std::string> everywhere;   ///< those that are
  /// By what is read and how it is rounded.
  std::map<std::tuple<std::string, float, int64_t, bool, std::vector<float>>, std::string> inputs;
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
  for (const StrategyLine &line : *lines)
    if (line.form == StrategyLine::Bytes)
      return readError("table '" + line.node + "' in bytes is not written into ONNX files");
  QdqWriter writer(*draft, module, layers, *lines);
  writer.foldFactors();
  for (const StrategyLine &line : *lines)
    if (line.form != StrategyLine::F32)
      if (llvm::Error error = writer.add(line))
        return error;
  draft->prune();
  poolBytes(*draft);
  llvm::Expected<std::string> bytes = draft->serialize();
  return bytes ? writeWhole(path, *bytes) : bytes.takeError();
}

/// What divides the channels that a layer reads; by name of nodes in integers, whether what they
/// give may be divided.
OnnxLimits::Division divisionOf(OnnxDraft &draft, const OnnxLayers &inFileLayers,
                                const IntegerLayer &layer, size_t at,
                                const std::map<std::string, bool> &integers) {
  OnnxConstants constants(draft);
  OnnxChannel channel = channelOf(layer, draft.nodes[at]);
  bool isForLayers =
      isInner(draft, channel.value) && llvm::all_of(draft.nodes, [&](const OnnxDraftNode &node) {
        return !llvm::is_contained(node.inputs, channel.value) || integers.count(nameOf(node));
      });
  auto size = cast<SymTensorType>(layer.input.getType()).getDim(*layer.inputChannel).asConstant();
  if (isForLayers &&
      FactorFold(draft, constants, integers).canFold(channel, size_t(size.value_or(0))))
    return OnnxLimits::Maker;
  return inFileLayers.isOfBytes(channel.value) ? OnnxLimits::None : OnnxLimits::Node;
}

} // namespace

llvm::Expected<OnnxLimits> limitsOfOnnx(const Module &module,
                                        const std::vector<IntegerLayer> &layers,
                                        const std::vector<std::string> &stays,
                                        const std::string &model) {
  llvm::Expected<OnnxDraft> draft = draftOf(model);
  if (!draft)
    return draft.takeError();
  OnnxLayers inFileLayers(*draft, module, layers);
  OnnxLimits limits;
  std::set<std::string> integers;
  std::vector<size_t> positions(layers.size(), 0);
  for (auto [i, layer] : llvm::enumerate(layers)) {
    limits.layers.push_back(inFileLayers.find(layer, positions[i]).value_or(""));
    bool isWritten = limits.layers.back().empty();
    limits.everywhere.push_back(isWritten
                                    ? inFileLayers.otherReader(layer, positions[i]).value_or("")
                                    : limits.layers.back());
    if (isWritten && stays[i].empty())
      integers.insert(nodeNameOf(layer.op));
  }
  std::map<std::string, bool> hasFreeColumns;
  for (const IntegerLayer &layer : layers) {
    limits.results.push_back(inFileLayers.resultsToRound(layer, integers));
    if (integers.count(nodeNameOf(layer.op)))
      hasFreeColumns[nodeNameOf(layer.op)] = limits.results.back().empty();
  }
  for (auto [i, layer] : llvm::enumerate(layers)) {
    bool isDivided = limits.layers[i].empty() && layer.inputChannel;
    limits.divisions.push_back(
        isDivided ? divisionOf(*draft, inFileLayers, layer, positions[i], hasFreeColumns)
                  : OnnxLimits::None);
  }
  return limits;
}

Result<void> writeOnnx(const Module &module, const std::string &strategy, const std::string &model,
                       const std::string &path) {
  if (llvm::Error problem = writeQdq(module, strategy, model, path))
    return quantizeError("W0326", llvm::toString(std::move(problem)));
  return {};
}

} // namespace weft
