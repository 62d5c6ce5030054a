//===- WeightBytes.h - The bytes of a weight, as the program stores them --------------------------===//
//
//   if (auto bytes = bytesOf(constant, readWeight)) … bytes->size() …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_WEIGHTBYTES_H
#define WEFT_PASSES_QUANT_WEIGHTBYTES_H

#include "passes/quant/ConstantValues.h"

namespace weft {

/// What a value that enters a kernel is outside; any other is itself.
mlir::Value outsideKernel(mlir::Value value);

/// Of a constant of bytes; nothing when nobody has them, or their number is not known.
std::optional<llvm::SmallVector<int8_t>> bytesOf(ConstantOp constant, const WeightReader &weight);

} // namespace weft

#endif // WEFT_PASSES_QUANT_WEIGHTBYTES_H
