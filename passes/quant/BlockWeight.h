//===- BlockWeight.h - A weight in few bits, with a scale and a zero point for every block --------===//
//
//   BlockWeight rounded = roundBlocks(gridOf(layer), weight, factors);
//   RoundedConstants constants = constantsOf(layer, packed(rounded, /*bits=*/4), /*bits=*/4, files);
//   Value restored = restoredBlocks(b, layer, constants, /*bits=*/4); // dequantize_blocks of constants
//
// Blocks lie along what is summed. Ranges of blocks are those that leave the least squared error, so the same weight and factors give the same
// bytes, with calls or without.
//
// Scales are numbers of f16, which is what numbers are rounded by, so nothing is lost when two bytes store them. A weight that f16 could not
// scale, as its largest scale is outside f16's normal numbers, has scales of f32.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_BLOCKWEIGHT_H
#define WEFT_PASSES_QUANT_BLOCKWEIGHT_H

#include "passes/quant/LayerChoice.h"

namespace weft {

/// Where elements of a weight with two dimensions lie, of which one is in blocks.
struct WeightGrid {
  int64_t blocks() const { return channels / kWeightBlock; }
  int64_t element(int64_t channel, int64_t column) const {
    return channelsLead ? channel * columns + column : column * channels + channel;
  }
  int64_t block(int64_t block, int64_t column) const {
    return channelsLead ? block * columns + column : column * blocks() + block;
  }

  int64_t channels, columns;
  bool channelsLead;
  int64_t bits = kBlockBits; ///< of its numbers
  float largest() const { return float((1 << bits) - 1); }
};
/// Of a layer that has blocks.
WeightGrid gridOf(const IntegerLayer &layer, int64_t bits = kBlockBits);

struct BlockWeight {
  std::vector<uint8_t> numbers; ///< one in each byte, where the weight has its elements
  std::vector<float> scales;    ///< by block, in the weight's order with blocks instead of channels
  std::vector<uint8_t> zeros;   ///< as scales
};
enum class ScaleType { Half, Single };
/// Of the scales of a weight, channels multiplied by the factors; by every `step`-th column.
ScaleType scaleTypeOf(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                      llvm::ArrayRef<float> factors, int64_t step = 1);
/// Of the sizes that a weight needs.
BlockWeight emptyBlocks(const WeightGrid &grid);

/// Parts of a block's range that are tried.
constexpr float kBlockReaches[] = {1, 0.95f, 0.9f, 0.85f, 0.8f, 0.75f, 0.7f};
/// For a range that holds 0.
struct BlockScale {
  float scale;
  uint8_t zero;
};
BlockScale blockScale(float least, float most, float largest, ScaleType type);
/// What an element is rounded to, of the numbers up to the largest.
float blockNumber(float element, float scale, float zero, float largest);

/// To nearest; channels are multiplied by the factors first, where there are some.
BlockWeight roundBlocks(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                        llvm::ArrayRef<float> factors);

PackedBlocks packed(const BlockWeight &rounded, int64_t bits);
RoundedConstants constantsOf(const IntegerLayer &layer, const PackedBlocks &rounded, int64_t bits,
                             const WeightFiles &files);
mlir::Value restoredBlocks(mlir::ImplicitLocOpBuilder &b, const IntegerLayer &layer,
                           const RoundedConstants &rounded, int64_t bits);

/// For a layer that reads rows whose channels have these mean squares: the mean square of what its products differ by, summed over some of its
/// columns and scaled to all.
double errorOfBlocks(const IntegerLayer &layer, llvm::ArrayRef<float> weight,
                     llvm::ArrayRef<float> factors, llvm::ArrayRef<double> power);

} // namespace weft

#endif // WEFT_PASSES_QUANT_BLOCKWEIGHT_H
