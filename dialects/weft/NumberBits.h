//===- NumberBits.h - In how many bits the numbers of a weight of bytes fit -----------------------===//
//
//   weft.dequantize_blocks %w, … {weft.number_bits = 6 : i64}       // all numbers of %w are less than 64
//
// Kernels may keep such a weight with no more bits for each number.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_NUMBERBITS_H
#define WEFT_DIALECTS_WEFT_NUMBERBITS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// On a `weft.dequantize_blocks` of a constant of unsigned bytes: 5 or 6.
constexpr llvm::StringLiteral kNumberBitsAttr = "weft.number_bits";
constexpr int64_t kFewestNumberBits = 5, kMostNumberBits = 6;

/// 8 where nobody says fewer.
inline int64_t numberBitsOf(mlir::Operation *dequantize) {
  auto bits = dequantize->getAttrOfType<mlir::IntegerAttr>(kNumberBitsAttr);
  return bits ? bits.getInt() : 8;
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_NUMBERBITS_H
