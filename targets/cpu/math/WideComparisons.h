//===- WideComparisons.h - Comparisons of what was widened from f16 ------------------------------===//
#ifndef WEFT_TARGETS_CPU_MATH_WIDECOMPARISONS_H
#define WEFT_TARGETS_CPU_MATH_WIDECOMPARISONS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Comparisons and selections of what was widened from f16 stay comparisons of f32 in a module of the
/// dialect llvm: LLVM would narrow them, and then compare lane by lane where the processor has no
/// arithmetic of f16.
void keepComparisonsWide(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_TARGETS_CPU_MATH_WIDECOMPARISONS_H
