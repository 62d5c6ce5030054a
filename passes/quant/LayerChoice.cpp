//===- LayerChoice.cpp ------------------------------------------------------------------------===//

#include "passes/quant/LayerChoice.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Rounding.h"
#include "passes/quant/BlockWeight.h"
#include "passes/quant/RowScale.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr double kMostByte = 127, kMostShort = 32767;
constexpr uint8_t kRowZero =
    128; ///< signed bytes as unsigned ones, which processors multiply by signed ones

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

SymTensorType constantType(Type element, ArrayRef<int64_t> dims) {
  auto sizes = llvm::map_to_vector(
      dims, [&](int64_t size) { return SymExpr::constant(element.getContext(), size); });
  return SymTensorType::get(sizes, element);
}

/// Numbers along one dimension of a value of some rank.
Value along(ImplicitLocOpBuilder &b, ArrayRef<float> numbers, unsigned dim, unsigned rank) {
  SmallVector<int64_t> dims(rank, 1);
  dims[dim] = int64_t(numbers.size());
  auto elements = DenseElementsAttr::get(RankedTensorType::get(dims, b.getF32Type()), numbers);
  return b.create<ConstantOp>(constantType(b.getF32Type(), dims), elements);
}

/// The input, its channels divided by the factors.
Value equalised(ImplicitLocOpBuilder &b, const IntegerLayer &layer, ArrayRef<float> factors) {
  if (factors.empty())
    return layer.input;
  auto inverse = llvm::map_to_vector(factors, [](float factor) { return 1 / factor; });
  return b.create<MulOp>(layer.input,
                         along(b, inverse, *layer.inputChannel, typeOf(layer.input).getRank()));
}

/// The weight as restored bytes.
Value restoredWeight(ImplicitLocOpBuilder &b, const IntegerLayer &layer, ByteWeight rounded,
                     const WeightFiles &files) {
  SymTensorType type = typeOf(layer.weight.getResult()).withElement(b.getI8Type());
  Value bytes = byteConstant(b, type, std::move(rounded.bytes), files);
  Value scales = along(b, rounded.scales, layer.column, type.getRank());
  return b.create<DequantizeOp>(bytes, scales, byteFill(b, true, 0));
}

Value productOf(ImplicitLocOpBuilder &b, const IntegerLayer &layer, Value input, Value weight) {
  Operation *product = b.clone(*layer.op);
  product->removeAttr(kChoicesAttr);
  product->removeAttr(kChosenAttr);
  product->setOperands({input, weight});
  return product->getResult(0);
}

} // namespace

/// What is not said is as without hardware that asks for it.
static void addRounding(Builder &b, const ByteRounding &rounding, NamedAttrList &entries) {
  if (rounding.isSigned)
    entries.set("signed", b.getUnitAttr());
  if (rounding.mostWeight != ByteRounding().mostWeight)
    entries.set("most_weight", b.getI64IntegerAttr(rounding.mostWeight));
  if (rounding.hasOneScale)
    entries.set("one_scale", b.getUnitAttr());
  if (rounding.hasPowersOfTwo)
    entries.set("powers_of_two", b.getUnitAttr());
}

static void addResults(Builder &b, ArrayRef<RoundedResult> results, NamedAttrList &entries) {
  auto written = llvm::map_to_vector(results, [&](const RoundedResult &result) -> Attribute {
    return b.getDictionaryAttr({b.getNamedAttr("behind", b.getI64IntegerAttr(result.behind)),
                                b.getNamedAttr("scale", b.getF32FloatAttr(result.scale)),
                                b.getNamedAttr("zero", b.getI64IntegerAttr(result.zero))});
  });
  if (!written.empty())
    entries.set("results", b.getArrayAttr(written));
}

/// Values that are there, each farther than the one before.
static bool readResults(Operation *layer, DictionaryAttr entries,
                        std::vector<RoundedResult> &results) {
  Attribute written = entries.get("results");
  auto list = dyn_cast_or_null<ArrayAttr>(written);
  for (Attribute each : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto result = dyn_cast<DictionaryAttr>(each);
    auto behind = result ? result.getAs<IntegerAttr>("behind") : IntegerAttr();
    auto scale = result ? result.getAs<FloatAttr>("scale") : FloatAttr();
    auto zero = result ? result.getAs<IntegerAttr>("zero") : IntegerAttr();
    if (!behind || !scale || !zero || behind.getValue().ugt(kMostBehind) ||
        !zero.getValue().ult(256))
      return false;
    unsigned operators = unsigned(behind.getInt());
    if (!valueGivenBehind(layer, operators) ||
        (!results.empty() && operators <= results.back().behind))
      return false;
    results.push_back({operators, float(scale.getValueAsDouble()), zero.getInt()});
  }
  return bool(list) == bool(written);
}

static ByteRounding roundingOf(DictionaryAttr entries) {
  ByteRounding rounding;
  rounding.isSigned = entries.contains("signed");
  rounding.hasOneScale = entries.contains("one_scale");
  rounding.hasPowersOfTwo = entries.contains("powers_of_two");
  if (auto most = entries.getAs<IntegerAttr>("most_weight"))
    rounding.mostWeight = most.getInt();
  return rounding;
}

ArrayAttr choicesAttr(MLIRContext *context, ArrayRef<LayerChoice> choices) {
  Builder b(context);
  return b.getArrayAttr(llvm::map_to_vector(choices, [&](const LayerChoice &choice) -> Attribute {
    NamedAttrList entries;
    if (choice.form == LayerChoice::Rows)
      entries.set("rows", b.getUnitAttr());
    else if (choice.form == LayerChoice::WideRows)
      entries.set("wide_rows", b.getUnitAttr());
    else if (choice.form == LayerChoice::Blocks)
      entries.set("blocks", b.getUnitAttr());
    else if (choice.form == LayerChoice::ByteBlocks)
      entries.set("byte_blocks", b.getUnitAttr());
    else if (choice.form == LayerChoice::Half)
      entries.set("half", b.getUnitAttr());
    else {
      entries.set("scale", b.getF32FloatAttr(choice.scale));
      entries.set("zero", b.getI64IntegerAttr(choice.zero));
      if (choice.everywhere)
        entries.set("everywhere", b.getUnitAttr());
      addResults(b, choice.results, entries);
    }
    if (choice.bits != kBlockBits)
      entries.set("bits", b.getI64IntegerAttr(choice.bits));
    addRounding(b, choice.rounding, entries);
    if (!choice.factors.empty())
      entries.set("factors", b.getDenseF32ArrayAttr(choice.factors));
    if (choice.rounded) {
      entries.set("numbers", choice.rounded->numbers);
      entries.set("scales", choice.rounded->scales);
      entries.set("zeros", choice.rounded->zeros);
    }
    return entries.getDictionary(context);
  }));
}

/// What constants may say, all three or none; whether their types fit is for the constants to verify.
static bool readRounded(DictionaryAttr entries, std::optional<RoundedConstants> &rounded) {
  RoundedConstants read{entries.get("numbers"), entries.get("scales"), entries.get("zeros")};
  unsigned known = 0, constants = 0;
  for (Attribute each : {read.numbers, read.scales, read.zeros}) {
    known += bool(each);
    constants += isa_and_nonnull<DenseElementsAttr, FlatSymbolRefAttr>(each);
  }
  if (known > 0)
    rounded = read;
  return known == constants && (known == 0 || known == 3);
}

static bool readBits(DictionaryAttr entries, int64_t &bits) {
  if (auto written = entries.getAs<IntegerAttr>("bits"))
    bits = written.getInt();
  return bits >= kBlockBits && bits <= kMostBlockBits;
}

static LayerChoice::Form formOf(DictionaryAttr entries) {
  return entries.contains("rows")          ? LayerChoice::Rows
         : entries.contains("wide_rows")   ? LayerChoice::WideRows
         : entries.contains("blocks")      ? LayerChoice::Blocks
         : entries.contains("byte_blocks") ? LayerChoice::ByteBlocks
         : entries.contains("half")        ? LayerChoice::Half
                                           : LayerChoice::Static;
}

FailureOr<std::vector<LayerChoice>> choicesOf(const IntegerLayer &layer) {
  std::vector<LayerChoice> choices;
  auto list = layer.op->getAttrOfType<ArrayAttr>(kChoicesAttr);
  int64_t channels = layer.inputChannel
                         ? typeOf(layer.input).getDim(*layer.inputChannel).asConstant().value_or(0)
                         : 0;
  for (Attribute each : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto entries = dyn_cast<DictionaryAttr>(each);
    LayerChoice choice;
    choice.form = entries ? formOf(entries) : LayerChoice::Static;
    auto scale = entries ? entries.getAs<FloatAttr>("scale") : FloatAttr();
    auto zero = entries ? entries.getAs<IntegerAttr>("zero") : IntegerAttr();
    if (auto factors = entries ? entries.getAs<DenseF32ArrayAttr>("factors") : DenseF32ArrayAttr())
      choice.factors = factors.asArrayRef().vec();
    bool fits = canHave(layer, choice.form);
    if (choice.form == LayerChoice::Static)
      fits = scale && zero && zero.getValue().ult(256);
    if (entries && entries.contains("everywhere"))
      fits = fits && choice.form == LayerChoice::Static && choice.factors.empty();
    if (choice.hasBlocks())
      fits = fits && readBits(entries, choice.bits) && readRounded(entries, choice.rounded);
    if (choice.form == LayerChoice::Static)
      fits = fits && readResults(layer.op, entries, choice.results);
    if (fits)
      choice.rounding = roundingOf(entries);
    fits = fits && choice.rounding.mostWeight > 0 && choice.rounding.mostWeight <= kMostByte;
    fits = fits && (choice.form != LayerChoice::Half || choice.factors.empty());
    if (!fits || (!choice.factors.empty() && int64_t(choice.factors.size()) != channels))
      return layer.op->emitOpError("has a choice that is none of it: ") << each;
    if (choice.form == LayerChoice::Static) {
      choice.scale = float(scale.getValueAsDouble());
      choice.zero = zero.getInt();
      choice.everywhere = entries.contains("everywhere");
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

static bool canBeHalf(const IntegerLayer &layer) {
  auto conv = dyn_cast<ConvOp>(layer.op);
  return !conv || conv.getGroups() == 1;
}

static bool canHaveByteBlocks(const IntegerLayer &layer) {
  SymTensorType input = typeOf(layer.input);
  return layer.hasBlocks && layer.hasRows && *layer.inputChannel + 1 == input.getRank() &&
         RoundBlocksOp::isRegular(input, kWeightBlock);
}

bool canHave(const IntegerLayer &layer, LayerChoice::Form form) {
  switch (form) {
  case LayerChoice::Static:
    return true;
  case LayerChoice::Rows:
  case LayerChoice::WideRows:
    return layer.hasRows;
  case LayerChoice::Blocks:
    return layer.hasBlocks;
  case LayerChoice::ByteBlocks:
    return canHaveByteBlocks(layer);
  case LayerChoice::Half:
    return canBeHalf(layer);
  }
  return false;
}

float powerOfTwoFrom(double scale) {
  int exponent = 0;
  double part = std::frexp(scale, &exponent); // 0.5 to 1
  // What is about to be 0 or infinity stays a number.
  return float(std::ldexp(1.0, std::clamp(part == 0.5 ? exponent - 1 : exponent, -126, 127)));
}

ByteWeight roundWeight(const IntegerLayer &layer, ArrayRef<float> weight, ArrayRef<float> factors,
                       const ByteRounding &rounding) {
  SmallVector<int64_t> dims = *typeOf(layer.weight.getResult()).getConstantDims();
  auto strideOf = [&](unsigned dim) {
    return size_t(
        std::accumulate(dims.begin() + dim + 1, dims.end(), int64_t(1), std::multiplies<>()));
  };
  size_t columns = size_t(dims[layer.column]), columnStride = strideOf(layer.column);
  size_t channelStride = factors.empty() ? 1 : strideOf(*layer.weightChannel);
  auto scaled = [&](size_t i) {
    return factors.empty() ? weight[i] : weight[i] * factors[i / channelStride % factors.size()];
  };
  size_t scales = rounding.hasOneScale ? 1 : columns;
  std::vector<float> largest(scales, 0);
  for (size_t i = 0; i < weight.size(); ++i) {
    float &most = largest[i / columnStride % columns % scales];
    most = std::max(most, std::fabs(scaled(i)));
  }
  double mostByte = double(rounding.mostWeight);
  ByteWeight rounded{std::vector<int8_t>(weight.size()), {}};
  for (float most : largest) // a column of zeros has a scale, too
    rounded.scales.push_back(most > 0 ? float(most / mostByte) : 1);
  if (rounding.hasPowersOfTwo)
    for (float &scale : rounded.scales)
      scale = powerOfTwoFrom(scale);
  for (size_t i = 0; i < weight.size(); ++i) {
    double nearest =
        std::nearbyint(scaled(i) / rounded.scales[i / columnStride % columns % scales]);
    rounded.bytes[i] = int8_t(std::clamp(nearest, -mostByte, mostByte));
  }
  return rounded;
}

Value byteConstant(ImplicitLocOpBuilder &b, SymTensorType type, std::vector<int8_t> bytes,
                   const WeightFiles &files) {
  Attribute elements;
  if (files.add)
    elements = files.add(type, std::move(bytes));
  else
    elements = DenseElementsAttr::get(RankedTensorType::get(*type.getConstantDims(), b.getI8Type()),
                                      ArrayRef<int8_t>(bytes));
  return b.create<ConstantOp>(type, elements);
}

StaticScale constantScale(ImplicitLocOpBuilder &b, const LayerChoice &choice) {
  bool isSigned = choice.rounding.isSigned;
  return {fill(b, b.getF32FloatAttr(choice.scale)),
          byteFill(b, isSigned, isSigned ? choice.zero - kRowZero : choice.zero)};
}

Value restored(ImplicitLocOpBuilder &b, Value input, StaticScale scale) {
  Value bytes = b.create<QuantizeOp>(input, scale.scale, scale.zero);
  return b.create<DequantizeOp>(bytes, scale.scale, scale.zero);
}

void roundEverywhere(ImplicitLocOpBuilder &b, ArrayRef<IntegerLayer> layers,
                     function_ref<const LayerChoice *(size_t)> choiceOf,
                     function_ref<Value(size_t, const LayerChoice &)> build) {
  llvm::SmallPtrSet<Operation *, 32> all;
  for (const IntegerLayer &layer : layers)
    all.insert(layer.op);
  llvm::SmallPtrSet<Value, 16> done;
  for (auto [i, layer] : llvm::enumerate(layers)) {
    const LayerChoice *choice = choiceOf(i);
    if (!choice || !done.insert(layer.input).second)
      continue;
    SmallVector<OpOperand *> others;
    for (OpOperand &use : layer.input.getUses())
      if (!all.contains(use.getOwner()) && !use.getOwner()->hasTrait<OpTrait::ReturnLike>())
        others.push_back(&use);
    b.setInsertionPointAfterValue(layer.input);
    b.setLoc(layer.input.getLoc());
    Value rounded = build(i, *choice);
    for (OpOperand *other : others)
      other->set(rounded);
  }
}

std::optional<size_t> roundsEverywhere(ArrayRef<IntegerLayer> layers, Value input,
                                       function_ref<const LayerChoice *(size_t)> choiceOf) {
  for (auto [i, layer] : llvm::enumerate(layers))
    if (layer.input == input && choiceOf(i))
      return i;
  return std::nullopt;
}

Value valueGivenBehind(Operation *layer, unsigned operators) {
  Value value = layer->getResult(0);
  for (unsigned i = 0; i < operators; ++i) {
    if (i == kMostBehind || !value.hasOneUse())
      return {};
    Operation *user = *value.user_begin();
    if (user->getNumResults() != 1 || user->getBlock() != layer->getBlock())
      return {};
    value = user->getResult(0);
  }
  return typeOf(value).getElementType().isF32() ? value : Value();
}

std::vector<GivenResult> givenResults(ArrayRef<IntegerLayer> layers,
                                      ArrayRef<std::vector<LayerChoice>> choices) {
  std::vector<GivenResult> given;
  for (size_t i = 0; i < layers.size(); ++i)
    for (auto [at, choice] : llvm::enumerate(choices[i]))
      for (const RoundedResult &result : choice.results) {
        LayerChoice rounded;
        rounded.scale = result.scale;
        rounded.zero = result.zero;
        rounded.rounding.isSigned = choice.rounding.isSigned;
        given.push_back(
            {i, unsigned(at + 1), valueGivenBehind(layers[i].op, result.behind), rounded});
      }
  return given;
}

void roundResult(ImplicitLocOpBuilder &b, Value value, function_ref<Value(Value)> build) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  b.setInsertionPointAfterValue(value);
  b.setLoc(value.getLoc());
  Value rounded = build(value);
  for (OpOperand *use : uses)
    use->set(rounded);
}

/// As they were rounded, else to nearest.
static RoundedConstants blocksOf(const IntegerLayer &layer, ArrayRef<float> weight,
                                 const LayerChoice &choice, const WeightFiles &files) {
  if (choice.rounded)
    return *choice.rounded;
  auto rounded = roundBlocks(gridOf(layer, choice.bits), weight, choice.factors);
  return constantsOf(layer, packed(rounded, choice.bits), choice.bits, files);
}

Value buildChoice(ImplicitLocOpBuilder &b, const IntegerLayer &layer, const LayerChoice &choice,
                  StaticScale scale, const WeightFiles &files) {
  std::vector<float> weight = floatsOf(layer.weight, files.read);
  if (weight.empty())
    return {};
  if (choice.form == LayerChoice::Half) {
    Value narrow = b.create<ConvertOp>(layer.weight.getResult(), b.getBF16Type());
    return productOf(b, layer, b.create<ConvertOp>(layer.input, b.getBF16Type()), narrow);
  }
  Value x = equalised(b, layer, choice.factors);
  if (choice.form == LayerChoice::ByteBlocks)
    x = b.create<RoundBlocksOp>(x, kWeightBlock);
  if (choice.hasBlocks())
    return productOf(b, layer, x,
                     restoredBlocks(b, layer, blocksOf(layer, weight, choice, files), choice.bits));
  if (choice.form == LayerChoice::Rows)
    scale = {scaleOfRows(b, x, layer.summed, kMostByte),
             choice.rounding.isSigned ? byteFill(b, true, 0) : byteFill(b, false, kRowZero)};
  else if (choice.form == LayerChoice::WideRows)
    scale = {scaleOfRows(b, x, layer.summed, kMostShort), fill(b, b.getI16IntegerAttr(0))};
  Value input = restored(b, x, scale);
  Value columns =
      restoredWeight(b, layer, roundWeight(layer, weight, choice.factors, choice.rounding), files);
  return productOf(b, layer, input, columns);
}

} // namespace weft
