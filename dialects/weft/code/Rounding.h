//===- Rounding.h - Code that rounds a block of reals to bytes ---------------------------------===//
//
// What round_blocks means in pieces, for code that has a whole block at hand, as scalars or
// vectors:
//
//   Value largest = magnitudeBits(b, x);                       // and the maximum of those of the block, as integers
//   BlockStep step = blockStep(b, largest);
//   Value byte = trunci(roundedBits(b, x, step.inverse));      // x is about byte * step.size
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_CODE_ROUNDING_H
#define WEFT_DIALECTS_WEFT_CODE_ROUNDING_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// The bits of |x|; as integers they have the order of the magnitudes, with nan above all.
mlir::Value magnitudeBits(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

struct BlockStep {
  mlir::Value size, inverse;
};
BlockStep blockStep(mlir::ImplicitLocOpBuilder &b, mlir::Value largestBits);

constexpr float kRoundingTerm = 12582912; ///< 1.5 * 2^23
constexpr int32_t kRoundingBits = 0x4b400000;
/// kRoundingBits plus the multiple of the step that is nearest to x, whose byte the lowest bits
/// are.
mlir::Value roundedBits(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value inverse);
/// That multiple of the step.
mlir::Value roundedReal(mlir::ImplicitLocOpBuilder &b, mlir::Value x, const BlockStep &step);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_CODE_ROUNDING_H
