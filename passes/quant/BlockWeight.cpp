//===- BlockWeight.cpp ------------------------------------------------------------------------===//

#include "passes/quant/BlockWeight.h"
#include "dialects/weft/ops/Rounding.h"
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;

namespace weft {
namespace {

constexpr int kLargest = (1 << kBlockBits) - 1;
constexpr float kReaches[] = {1, 0.9f, 0.8f}; ///< parts of a block's range that are tried
constexpr float kLeastScale = std::numeric_limits<float>::min();
constexpr int64_t kSampledColumns = 64; ///< for an estimate

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Where elements of a weight with two dimensions lie.
struct Grid {
  explicit Grid(const IntegerLayer &layer) {
    SmallVector<int64_t> dims = *typeOf(layer.weight.getResult()).getConstantDims();
    channels = dims[*layer.weightChannel];
    columns = dims[layer.column];
    channelsLead = *layer.weightChannel == 0;
  }
  int64_t blocks() const { return channels / kWeightBlock; }
  int64_t element(int64_t channel, int64_t column) const {
    return channelsLead ? channel * columns + column : column * channels + channel;
  }
  int64_t block(int64_t block, int64_t column) const {
    return channelsLead ? block * columns + column : column * blocks() + block;
  }

  int64_t channels, columns;
  bool channelsLead;
};

struct Block {
  std::array<uint8_t, kWeightBlock> numbers;
  float scale = 1;
  uint8_t zero = 0;
  float restored(size_t i) const { return (float(numbers[i]) - float(zero)) * scale; }
};

using Elements = std::array<float, kWeightBlock>;

/// By a range that holds 0; gives the squared error.
double roundTo(const Elements &elements, float least, float most, Block &block) {
  block.scale = std::max((most - least) / kLargest, kLeastScale);
  block.zero = uint8_t(std::clamp(std::nearbyint(-least / block.scale), 0.0f, float(kLargest)));
  double error = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    float number = std::nearbyint(elements[i] / block.scale) + float(block.zero);
    block.numbers[i] = uint8_t(std::clamp(number, 0.0f, float(kLargest)));
    double difference = block.restored(i) - elements[i];
    error += difference * difference;
  }
  return error;
}

Block roundBlock(const Elements &elements) {
  float least = std::min(0.0f, *std::min_element(elements.begin(), elements.end()));
  float most = std::max(0.0f, *std::max_element(elements.begin(), elements.end()));
  Block best, tried;
  double leastError = INFINITY;
  for (float reach : kReaches)
    if (double error = roundTo(elements, reach * least, reach * most, tried); error < leastError) {
      leastError = error;
      best = tried;
    }
  return best;
}

Elements elementsOf(const Grid &grid, ArrayRef<float> weight, ArrayRef<float> factors,
                    int64_t block, int64_t column) {
  Elements elements;
  for (int64_t i = 0; i < kWeightBlock; ++i) {
    int64_t channel = block * kWeightBlock + i;
    float element = weight[size_t(grid.element(channel, column))];
    elements[size_t(i)] = factors.empty() ? element : element * factors[size_t(channel)];
  }
  return elements;
}

/// Numbers of 4 bits, the first of two in the lower half of a byte.
Value nibbles(ImplicitLocOpBuilder &b, SymTensorType type, ArrayRef<uint8_t> numbers,
              const WeightFiles &files) {
  Attribute elements;
  if (files.add) {
    std::vector<int8_t> bytes((numbers.size() + 1) / 2, 0);
    for (size_t i = 0; i < numbers.size(); ++i)
      bytes[i / 2] = int8_t(uint8_t(bytes[i / 2]) | numbers[i] << i % 2 * kBlockBits);
    elements = files.add(type, std::move(bytes));
  } else {
    auto integers = llvm::map_to_vector(numbers, [](uint8_t n) { return APInt(kBlockBits, n); });
    elements = DenseElementsAttr::get(
        RankedTensorType::get(*type.getConstantDims(), type.getElementType()), integers);
  }
  return b.create<ConstantOp>(type, elements);
}

} // namespace

BlockWeight roundBlocks(const IntegerLayer &layer, ArrayRef<float> weight,
                        ArrayRef<float> factors) {
  Grid grid(layer);
  size_t blocks = size_t(grid.blocks() * grid.columns);
  BlockWeight rounded{std::vector<uint8_t>(weight.size()), std::vector<float>(blocks),
                      std::vector<uint8_t>(blocks)};
  for (int64_t column = 0; column < grid.columns; ++column)
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      Block found = roundBlock(elementsOf(grid, weight, factors, block, column));
      for (int64_t i = 0; i < kWeightBlock; ++i)
        rounded.numbers[size_t(grid.element(block * kWeightBlock + i, column))] =
            found.numbers[size_t(i)];
      rounded.scales[size_t(grid.block(block, column))] = found.scale;
      rounded.zeros[size_t(grid.block(block, column))] = found.zero;
    }
  return rounded;
}

Value restoredBlocks(ImplicitLocOpBuilder &b, const IntegerLayer &layer, const BlockWeight &rounded,
                     const WeightFiles &files) {
  SymTensorType weight = typeOf(layer.weight.getResult());
  Type element = b.getIntegerType(kBlockBits, false);
  SmallVector<SymExpr> dims(weight.getDims());
  int64_t axis = int64_t(*layer.weightChannel);
  dims[size_t(axis)] = SymExpr::constant(b.getContext(), Grid(layer).blocks());
  auto blocks = SymTensorType::get(dims, b.getF32Type());
  Attribute scales;
  if (files.add) {
    auto *bytes = reinterpret_cast<const int8_t *>(rounded.scales.data());
    scales = files.add(blocks, {bytes, bytes + rounded.scales.size() * sizeof(float)});
  } else
    scales =
        DenseElementsAttr::get(RankedTensorType::get(*blocks.getConstantDims(), b.getF32Type()),
                               ArrayRef<float>(rounded.scales));
  Value numbers = nibbles(b, weight.withElement(element), rounded.numbers, files);
  Value zeros = nibbles(b, blocks.withElement(element), rounded.zeros, files);
  return b.create<DequantizeBlocksOp>(weight, numbers, b.create<ConstantOp>(blocks, scales), zeros,
                                      axis, kWeightBlock);
}

double errorOfBlocks(const IntegerLayer &layer, ArrayRef<float> weight, ArrayRef<float> factors,
                     ArrayRef<double> power) {
  Grid grid(layer);
  int64_t step = std::max<int64_t>(1, grid.columns / kSampledColumns), columns = 0;
  double error = 0;
  for (int64_t column = 0; column < grid.columns; column += step, ++columns)
    for (int64_t block = 0; block < grid.blocks(); ++block) {
      Elements elements = elementsOf(grid, weight, factors, block, column);
      Block found = roundBlock(elements);
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
