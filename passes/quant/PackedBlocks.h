//===- PackedBlocks.h - A weight in blocks of few bits as constants hold it -----------------------===//
#ifndef WEFT_PASSES_QUANT_PACKEDBLOCKS_H
#define WEFT_PASSES_QUANT_PACKEDBLOCKS_H

#include <cstdint>
#include <vector>

namespace weft {

/// Elements of a block of a weight, the fewest and the most bits of each, and those of the block's scale.
constexpr int64_t kWeightBlock = 32, kBlockBits = 4, kMostBlockBits = 6, kScaleBits = 16;

/// Numbers of 4 bits are two in a byte, the first in the lower half; those of 5 and 6 bits have a byte each. So have zero points.
struct PackedBlocks {
  std::vector<int8_t> numbers; ///< in the weight's order
  std::vector<float> scales;   ///< by block, in the weight's order with blocks instead of channels
  std::vector<int8_t> zeros;   ///< as scales
};

} // namespace weft

#endif // WEFT_PASSES_QUANT_PACKEDBLOCKS_H
