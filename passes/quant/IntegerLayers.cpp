//===- IntegerLayers.cpp ----------------------------------------------------------------------===//

#include "passes/quant/IntegerLayers.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Rounding.h"
#include "passes/quant/ProductDims.h"
#include "passes/quant/QuantisedViews.h"
#include "passes/quant/RegionValues.h"
#include "llvm/ADT/MapVector.h"
#include <cstring>

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// A constant of f32 of known sizes; null for anything else.
ConstantOp constantWeight(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  bool known =
      constant && typeOf(value).getElementType().isF32() && typeOf(value).getConstantDims();
  return known ? constant : ConstantOp();
}

/// Whether a value is computed as reals: what integers stand for already stays as its file has it.
bool isReal(Value value) {
  return typeOf(value).getElementType().isF32() &&
         !isa_and_nonnull<ConstantOp, DequantizeOp, DequantizeBlocksOp, RoundBlocksOp>(
             makerBehindViews(value));
}

/// The weight's dimension that walks as the input's only summed one.
std::optional<unsigned> channelOfWeight(ContractOp op, unsigned summed) {
  IterationRule rule = IterationRule::of(op);
  for (auto [d, access] : llvm::enumerate(rule.operand(1)))
    if (access.factor() == rule.operand(0)[summed].factor())
      return unsigned(d);
  return std::nullopt;
}

/// Whether schedules read a weight in blocks along a dimension.
bool canHaveBlocks(ConstantOp weight, std::optional<unsigned> dim) {
  SmallVector<int64_t> dims = *typeOf(weight.getResult()).getConstantDims();
  return dim && dims.size() == 2 && dims[0] > 0 && dims[1] > 0 && dims[*dim] % kWeightBlock == 0;
}

std::optional<IntegerLayer> layerOf(ContractOp op) {
  std::optional<ProductDims> dims = productDims(op);
  ConstantOp weight = constantWeight(op.getRhs());
  if (!dims || !weight || !isReal(op.getLhs()))
    return std::nullopt;
  IntegerLayer layer{op, op.getLhs(), weight,         dims->column, dims->summed,
                     {}, {},          dims->rowsLead, false};
  if (dims->summed.size() == 1 && typeOf(op.getLhs()).getDim(dims->summed[0]).asConstant()) {
    layer.inputChannel = unsigned(dims->summed[0]);
    layer.weightChannel = channelOfWeight(op, unsigned(dims->summed[0]));
    layer.hasBlocks = canHaveBlocks(weight, layer.weightChannel);
  }
  return layer;
}

std::optional<IntegerLayer> layerOf(ConvOp op) {
  ConstantOp weight = constantWeight(op.getFilter());
  if (!weight || !isReal(op.getInput()) || !op.getAccumulate().isF32() ||
      typeOf(op.getFilter()).getRank() > 4 || op.getChannelsLast())
    return std::nullopt;
  IntegerLayer layer{op, op.getInput(), weight, 0, {1}, {}, {}, false, false};
  auto channels = typeOf(op.getInput()).getDim(1).asConstant();
  bool isDepthwise = channels == int64_t(op.getGroups()) &&
                     typeOf(op.getFilter()).getDim(0).asConstant() == channels;
  if (channels && (op.getGroups() == 1 || isDepthwise)) {
    layer.inputChannel = 1;
    layer.weightChannel = op.getGroups() == 1 ? 1 : 0;
  }
  return layer;
}

/// Whether an operator computes each element of its result of one element of each operand.
bool isPointwise(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  auto rule = dyn_cast<RuleOpInterface>(op);
  return element && rule && element.rootKind() == RootKind::Loop && op->getNumResults() == 1 &&
         rule.rule().isPointwise();
}

using Operations = llvm::SmallPtrSet<Operation *, 32>;

/// Whether a value is computed point by point of what a layer gives: the layer's kernel could store it as bytes.
bool isEpilogue(Value value, const Operations &layers) {
  Operations seen;
  for (SmallVector<Value> left{value}; !left.empty();) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (layers.contains(op))
      return true;
    if (isPointwise(op))
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

/// Whether only layers and operators point by point read what the epilogue of a layer computes, and one of these does.
bool hasOthers(Value value, const Operations &layers) {
  auto others = llvm::make_filter_range(value.getUsers(),
                                        [&](Operation *user) { return !layers.contains(user); });
  return !others.empty() && llvm::all_of(others, isPointwise) && isEpilogue(value, layers);
}

std::optional<IntegerLayer> layerOf(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return layerOf(contract);
  auto conv = dyn_cast<ConvOp>(op);
  return conv ? layerOf(conv) : std::nullopt;
}

} // namespace

std::vector<IntegerLayer> integerLayers(func::FuncOp function) {
  std::vector<IntegerLayer> layers;
  function.walk([&](Operation *op) {
    if (std::optional<IntegerLayer> layer = layerOf(op); layer && isOutsideKernels(op))
      layers.push_back(std::move(*layer));
  });
  return layers;
}

std::string otherWeights(func::FuncOp function) {
  std::string text;
  function.walk([&](Operation *op) {
    if (!text.empty() || !isa<ContractOp, ConvOp>(op))
      return;
    Operation *maker = makerBehindViews(op->getOperand(1));
    if (isa_and_nonnull<DequantizeOp, DequantizeBlocksOp>(maker))
      text = "integers already";
    else if (isa_and_nonnull<ConstantOp>(maker))
      llvm::raw_string_ostream(text) << typeOf(maker->getResult(0)).getElementType();
  });
  return text;
}

std::vector<Edge> edgesOf(const std::vector<IntegerLayer> &layers) {
  llvm::MapVector<std::pair<Value, int64_t>, Edge> edges;
  for (auto [i, layer] : llvm::enumerate(layers)) {
    int64_t channel = layer.inputChannel ? int64_t(*layer.inputChannel) : -1;
    Edge &edge = edges[{layer.input, channel}];
    edge.value = layer.input;
    edge.channel = layer.inputChannel;
    if (channel >= 0)
      edge.channels = *typeOf(layer.input).getDim(unsigned(channel)).asConstant();
    edge.hasRows |= layer.hasRows && channel + 1 == int64_t(typeOf(layer.input).getRank());
    edge.layers.push_back(i);
  }
  Operations all;
  for (const IntegerLayer &layer : layers)
    all.insert(layer.op);
  std::vector<Edge> list;
  for (auto &[key, edge] : edges) {
    edge.hasOthers = hasOthers(edge.value, all);
    list.push_back(std::move(edge));
  }
  return list;
}

Block *blockReading(const Edge &edge, const std::vector<IntegerLayer> &layers) {
  Block *block = layers[edge.layers[0]].op->getBlock();
  bool isOne = llvm::all_of(edge.layers,
                            [&](size_t layer) { return layers[layer].op->getBlock() == block; });
  Value value = edge.value;
  return isOne ? block : value.getParentBlock();
}

std::vector<float> floatsOf(ConstantOp constant,
                            const std::function<const char *(StringRef)> &weight) {
  if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
    return {elements.value_begin<float>(), elements.value_end<float>()};
  auto name = dyn_cast<FlatSymbolRefAttr>(constant.getValue());
  const char *bytes = name && weight ? weight(name.getValue()) : nullptr;
  auto count = typeOf(constant.getResult()).getElements().asConstant();
  if (!bytes || !count)
    return {};
  std::vector<float> elements(static_cast<size_t>(*count));
  memcpy(elements.data(), bytes, elements.size() * sizeof(float));
  return elements;
}

} // namespace weft
