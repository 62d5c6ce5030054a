//===- BlockWeight.h - A weight in few bits, with a scale and a zero point for every block --------===//
//
//   BlockWeight rounded = roundBlocks(layer, weight, factors);
//   Value restored = restoredBlocks(b, layer, rounded, files);     // dequantize_blocks of constants
//
// Blocks lie along what is summed. Ranges of blocks are those that leave the least squared error, so the same weight and factors give the same
// bytes, with calls or without.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_BLOCKWEIGHT_H
#define WEFT_PASSES_QUANT_BLOCKWEIGHT_H

#include "passes/quant/LayerChoice.h"

namespace weft {

constexpr int64_t kBlockBits = 4;

struct BlockWeight {
  std::vector<uint8_t> numbers; ///< one of 4 bits in each byte, where the weight has its elements
  std::vector<float> scales;    ///< by block, in the weight's order with blocks instead of channels
  std::vector<uint8_t> zeros;   ///< as scales
};

/// Of a layer that has blocks; its channels are multiplied by the factors first, where there are some.
BlockWeight roundBlocks(const IntegerLayer &layer, llvm::ArrayRef<float> weight,
                        llvm::ArrayRef<float> factors);

mlir::Value restoredBlocks(mlir::ImplicitLocOpBuilder &b, const IntegerLayer &layer,
                           const BlockWeight &rounded, const WeightFiles &files);

/// For a layer that reads rows whose channels have these mean squares: the mean square of what its products differ by, summed over some of its
/// columns and scaled to all.
double errorOfBlocks(const IntegerLayer &layer, llvm::ArrayRef<float> weight,
                     llvm::ArrayRef<float> factors, llvm::ArrayRef<double> power);

} // namespace weft

#endif // WEFT_PASSES_QUANT_BLOCKWEIGHT_H
