//===- NarrowFloat.h - Floats of less than 32 bits as code --------------------------------------===//
//
// Narrow floats are computed in f32 and kept in memory as bits. LLVM has no floats of 8 bits, so theirs are made with integer
// operations. Everything works on scalars and vectors.
//
//   Value bits = encodeFloat(b, x, element);      // f32 to i8 or i16, rounded to nearest even
//   Value x = decodeFloat(b, bits, element);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_NARROWFLOAT_H
#define WEFT_DIALECTS_WEFT_NARROWFLOAT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// Beyond the largest number f8E4M3FN gives nan and f8E5M2 infinity.
mlir::Value encodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Type element);
mlir::Value decodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value bits, mlir::Type element);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_NARROWFLOAT_H
