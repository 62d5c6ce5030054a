//===- RoundByMoments.h - Weights in blocks, rounded channel by channel -----------------------===//
//
//   BlockWeight rounded = roundByMoments(grid, weight, factors, moments);
//   bool isBetter = errorByMoments(grid, weight, factors, rounded, moments) < …
//
// What the channels before are off by is made up for by the next one (GPTQ), as far as what is read
// of it goes along with what was read of them. Scale and zero point of a block are found when it is
// reached, so they fit what is left to round.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ROUNDBYMOMENTS_H
#define WEFT_COMPILER_QUANTIZE_ROUNDBYMOMENTS_H

#include "compiler/quantize/MomentFactor.h"
#include "passes/quant/BlockWeight.h"

namespace weft {

/// How columns, which have nothing to do with each other, are worked on at once: calls `job` for
/// each number below `count`, from any thread.
using Workers = std::function<void(size_t count, const std::function<void(size_t)> &job)>;

/// The moments are of what is read before its channels are divided by the factors.
BlockWeight roundByMoments(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                           llvm::ArrayRef<float> factors, const MomentFactor &moments,
                           const Workers &workers);

/// The sum of the squares of what products are off by, over all rows that were read and all
/// columns.
double errorByMoments(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                      llvm::ArrayRef<float> factors, const BlockWeight &rounded,
                      const MomentFactor &moments, const Workers &workers);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ROUNDBYMOMENTS_H
