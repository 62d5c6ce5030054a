//===- BlockWeight.cpp ------------------------------------------------------------------------===//

#include "passes/quant/BlockWeight.h"
#include "dialects/weft/ops/Rounding.h"
#include "dialects/weft/types/FloatFormat.h"
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;

namespace weft {
namespace {

constexpr float kLeastScale = std::numeric_limits<float>::min();
constexpr int kHalfMantissa = 10, kLeastHalfExponent = -24; ///< of f16
constexpr float kLeastNormalHalf = 0x1p-14f, kLargestHalf = 65504;
constexpr int64_t kSampledColumns = 64; ///< for an estimate

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

struct Block {
  std::array<uint8_t, kWeightBlock> numbers;
  float scale = 1;
  uint8_t zero = 0;
  float restored(size_t i) const { return (float(numbers[i]) - float(zero)) * scale; }
};

using Elements = std::array<float, kWeightBlock>;

/// The nearest f16 above 0, at most the largest. Below the normal ones they are as far apart as the least.
float nearestHalf(float scale) {
  int exponent = 0;
  std::frexp(scale, &exponent); // 0.5 to 1
  float last = std::ldexp(1.0f, std::max(exponent - 1 - kHalfMantissa, kLeastHalfExponent));
  return std::clamp(std::nearbyint(scale / last) * last, std::ldexp(1.0f, kLeastHalfExponent),
                    kLargestHalf);
}

/// By a range that holds 0; gives the squared error.
double roundTo(const Elements &elements, float least, float most, float largest, ScaleType type,
               Block &block) {
  BlockScale found = blockScale(least, most, largest, type);
  block.scale = found.scale;
  block.zero = found.zero;
  double error = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    block.numbers[i] = uint8_t(blockNumber(elements[i], block.scale, float(block.zero), largest));
    double difference = block.restored(i) - elements[i];
    error += difference * difference;
  }
  return error;
}

struct Range {
  float least, most;
};
/// One that holds 0.
Range rangeOf(const Elements &elements) {
  return {std::min(0.0f, *std::min_element(elements.begin(), elements.end())),
          std::max(0.0f, *std::max_element(elements.begin(), elements.end()))};
}

Block roundBlock(const Elements &elements, float largest, ScaleType type) {
  auto [least, most] = rangeOf(elements);
  Block best, tried;
  double leastError = INFINITY;
  for (float reach : kBlockReaches)
    if (double error = roundTo(elements, reach * least, reach * most, largest, type, tried);
        error < leastError) {
      leastError = error;
      best = tried;
    }
  return best;
}

Elements elementsOf(const WeightGrid &grid, ArrayRef<float> weight, ArrayRef<float> factors,
                    int64_t block, int64_t column) {
  Elements elements;
  for (int64_t i = 0; i < kWeightBlock; ++i) {
    int64_t channel = block * kWeightBlock + i;
    float element = weight[size_t(grid.element(channel, column))];
    elements[size_t(i)] = factors.empty() ? element : element * factors[size_t(channel)];
  }
  return elements;
}

/// Two in a byte, or one.
std::vector<int8_t> packedNumbers(ArrayRef<uint8_t> numbers, int64_t bits) {
  if (bits > kBlockBits)
    return {numbers.begin(), numbers.end()};
  std::vector<int8_t> bytes((numbers.size() + 1) / 2, 0);
  for (size_t i = 0; i < numbers.size(); ++i)
    bytes[i / 2] = int8_t(uint8_t(bytes[i / 2]) | numbers[i] << i % 2 * kBlockBits);
  return bytes;
}

Attribute numbersOf(SymTensorType type, const std::vector<int8_t> &bytes,
                    const WeightFiles &files) {
  if (files.add)
    return files.add(type, bytes);
  SmallVector<int64_t> dims = *type.getConstantDims();
  SmallVector<APInt> integers;
  unsigned width = elementBits(type.getElementType()), inByte = 8 / width;
  for (unsigned i = 0, count = unsigned(ShapedType::getNumElements(dims)); i < count; ++i)
    integers.push_back(APInt(8, uint8_t(bytes[i / inByte])).extractBits(width, i % inByte * width));
  return DenseElementsAttr::get(RankedTensorType::get(dims, type.getElementType()), integers);
}

/// With one element for each block.
SymTensorType typeOfBlocks(const IntegerLayer &layer, Type element) {
  SymTensorType weight = typeOf(layer.weight.getResult());
  MLIRContext *context = weight.getContext();
  SmallVector<SymExpr> dims(weight.getDims());
  dims[*layer.weightChannel] = SymExpr::constant(context, gridOf(layer).blocks());
  return SymTensorType::get(dims, element);
}

Type numberType(MLIRContext *context, int64_t bits) {
  return IntegerType::get(context, bits > kBlockBits ? 8 : unsigned(kBlockBits),
                          IntegerType::Unsigned);
}

bool areHalf(ArrayRef<float> scales) {
  return llvm::all_of(scales, [](float scale) { return scale == nearestHalf(scale); });
}

/// As narrow as they are, which a strategy of an older Weft may not have.
Attribute scalesOf(const IntegerLayer &layer, ArrayRef<float> scales, const WeightFiles &files) {
  MLIRContext *context = layer.weight.getContext();
  Type half = Float16Type::get(context), element = Float32Type::get(context);
  std::vector<int8_t> bytes(scales.size() * sizeof(float));
  if (areHalf(scales)) {
    element = half;
    bytes.resize(scales.size() * sizeof(uint16_t));
    for (auto [i, scale] : llvm::enumerate(scales)) {
      auto bits = uint16_t(floatFormatOf(half)->encode(scale));
      memcpy(&bytes[i * sizeof bits], &bits, sizeof bits);
    }
  } else if (!bytes.empty())
    memcpy(bytes.data(), scales.data(), bytes.size());
  SymTensorType type = typeOfBlocks(layer, element);
  if (files.add)
    return files.add(type, std::move(bytes));
  return DenseElementsAttr::getFromRawBuffer(
      RankedTensorType::get(*type.getConstantDims(), element),
      ArrayRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

/// What a constant of such scales has, written down or by name.
Type elementOfScales(const IntegerLayer &layer, Attribute scales) {
  if (auto written = dyn_cast<DenseElementsAttr>(scales))
    return written.getElementType();
  auto weight =
      SymbolTable::lookupNearestSymbolFrom<WeightOp>(layer.op, cast<FlatSymbolRefAttr>(scales));
  return weight ? weight.getType().getElementType()
                : Type(Float32Type::get(layer.op->getContext()));
}

} // namespace

WeightGrid gridOf(const IntegerLayer &layer, int64_t bits) {
  SmallVector<int64_t> dims = *typeOf(layer.weight.getResult()).getConstantDims();
  return {dims[*layer.weightChannel], dims[layer.column], *layer.weightChannel == 0, bits};
}

BlockWeight emptyBlocks(const WeightGrid &grid) {
  size_t blocks = size_t(grid.blocks() * grid.columns);
  return {std::vector<uint8_t>(size_t(grid.channels * grid.columns)), std::vector<float>(blocks),
          std::vector<uint8_t>(blocks)};
}

ScaleType scaleTypeOf(const WeightGrid &grid, ArrayRef<float> weight, ArrayRef<float> factors,
                      int64_t step) {
  float largest = 0;
  for (int64_t column = 0; column < grid.columns; column += step)
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      auto [least, most] = rangeOf(elementsOf(grid, weight, factors, block, column));
      largest = std::max(largest, (most - least) / grid.largest());
    }
  bool isNormal = largest >= kLeastNormalHalf && largest <= kLargestHalf;
  return isNormal || largest == 0 ? ScaleType::Half : ScaleType::Single;
}

BlockScale blockScale(float least, float most, float largest, ScaleType type) {
  float scale = std::max((most - least) / largest, kLeastScale);
  if (type == ScaleType::Half)
    scale = nearestHalf(scale);
  return {scale, uint8_t(blockNumber(-least, scale, 0, largest))};
}

float blockNumber(float element, float scale, float zero, float largest) { // nan is 0
  return std::min(largest, std::max(0.0f, std::nearbyint(element / scale) + zero));
}

BlockWeight roundBlocks(const WeightGrid &grid, ArrayRef<float> weight, ArrayRef<float> factors) {
  BlockWeight rounded = emptyBlocks(grid);
  ScaleType type = scaleTypeOf(grid, weight, factors);
  for (int64_t column = 0; column < grid.columns; ++column)
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      Block found =
          roundBlock(elementsOf(grid, weight, factors, block, column), grid.largest(), type);
      for (int64_t i = 0; i < kWeightBlock; ++i)
        rounded.numbers[size_t(grid.element(block * kWeightBlock + i, column))] =
            found.numbers[size_t(i)];
      rounded.scales[size_t(grid.block(block, column))] = found.scale;
      rounded.zeros[size_t(grid.block(block, column))] = found.zero;
    }
  return rounded;
}

PackedBlocks packed(const BlockWeight &rounded, int64_t bits) {
  return {packedNumbers(rounded.numbers, bits), rounded.scales, packedNumbers(rounded.zeros, bits)};
}

RoundedConstants constantsOf(const IntegerLayer &layer, const PackedBlocks &rounded, int64_t bits,
                             const WeightFiles &files) {
  Type element = numberType(layer.weight.getContext(), bits);
  SymTensorType weight = typeOf(layer.weight.getResult());
  Attribute scales = scalesOf(layer, rounded.scales, files);
  return {numbersOf(weight.withElement(element), rounded.numbers, files), scales,
          numbersOf(typeOfBlocks(layer, element), rounded.zeros, files)};
}

Value restoredBlocks(ImplicitLocOpBuilder &b, const IntegerLayer &layer,
                     const RoundedConstants &rounded, int64_t bits) {
  SymTensorType weight = typeOf(layer.weight.getResult());
  Type element = numberType(b.getContext(), bits), scale = elementOfScales(layer, rounded.scales);
  Value numbers = b.create<ConstantOp>(weight.withElement(element), rounded.numbers);
  Value scales = b.create<ConstantOp>(typeOfBlocks(layer, scale), rounded.scales);
  Value zeros = b.create<ConstantOp>(typeOfBlocks(layer, element), rounded.zeros);
  return b.create<DequantizeBlocksOp>(weight, numbers, scales, zeros, int64_t(*layer.weightChannel),
                                      kWeightBlock);
}

double errorOfBlocks(const IntegerLayer &layer, ArrayRef<float> weight, ArrayRef<float> factors,
                     ArrayRef<double> power) {
  WeightGrid grid = gridOf(layer);
  int64_t step = std::max<int64_t>(1, grid.columns / kSampledColumns), columns = 0;
  ScaleType type = scaleTypeOf(grid, weight, factors, step);
  double error = 0;
  for (int64_t column = 0; column < grid.columns; column += step, ++columns)
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      Elements elements = elementsOf(grid, weight, factors, block, column);
      Block found = roundBlock(elements, grid.largest(), type);
      for (int64_t i = 0; i < kWeightBlock; ++i) {
        size_t channel = size_t(block * kWeightBlock + i);
        double factor = factors.empty() ? 1 : factors[channel];
        double difference = (found.restored(size_t(i)) - elements[size_t(i)]) / factor;
        error += power[channel] * difference * difference;
      }
    }
  return error * double(grid.columns) / double(columns);
}

} // namespace weft
