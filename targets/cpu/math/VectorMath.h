//===- VectorMath.h - Elementary functions as plain vector code -------------------------------===//
//
// Rewrites the math dialect (and arith.remf, f16/bf16 conversions) into adds, multiplies, compares
// and integer operations, so that generated kernels call no libm. Run it on finished vector code:
//
//   if (failed(weft::expandVectorMath(function, machine))) ...
//
//===------------------------------------------------------------------------------------------===//

#ifndef WEFT_TARGETS_CPU_MATH_VECTORMATH_H
#define WEFT_TARGETS_CPU_MATH_VECTORMATH_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class DialectRegistry;
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace weft {

class VectorMachine;

/// The dialects whose operations the expansion creates; a pass that calls it must depend on them.
void insertVectorMathDialects(mlir::DialectRegistry &registry);

/// One pattern per operation. Their results need no second application, and sqrt, floor, ceil,
/// trunc, round, roundeven, absf, copysign and fma stay: processors have them.
void populateVectorMathPatterns(mlir::RewritePatternSet &patterns, const VectorMachine &machine);

/// Expands every such operation under `root` once. Operands are scalars or fixed-length 1-D vectors
/// of f32, f64, f16 or bf16 (the last two are computed in f32). Fails with an error at the first
/// operation of another type. Errors are at most 4 ulp; signed zeros, infinities, NaNs and
/// denormals behave as in C99.
mlir::LogicalResult expandVectorMath(mlir::Operation *root, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_MATH_VECTORMATH_H
