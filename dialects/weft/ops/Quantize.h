//===- Quantize.h - Integers that stand for reals: quantize, restore ------------------------===//
//
// Beside Weft.h, which the whole compiler includes: only what makes or moves quantisations knows these operators. Everything else asks
// their interfaces.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_QUANTIZE_H
#define WEFT_DIALECTS_WEFT_OPS_QUANTIZE_H

#include "dialects/weft/Weft.h"

#define GET_OP_CLASSES
#include "dialects/weft/QuantizeOps.h.inc"

namespace weft {

/// On a constant of one element: kernels read it from memory instead of having it in their code, which they can then share.
constexpr llvm::StringLiteral kParameterAttr = "weft.parameter";

/// Least and largest value of an integer type.
std::pair<double, double> integerRange(mlir::Type element);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_QUANTIZE_H
