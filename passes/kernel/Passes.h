//===- Passes.h - Passes that make kernels and change them -------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_PASSES_H
#define WEFT_PASSES_KERNEL_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace weft {
#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"

/// Whether somebody has a schedule for a kernel with this specification.
using SpecificationTest = std::function<bool(mlir::func::FuncOp)>;
/// Leaves what is taken as it is; without a test nothing is.
std::unique_ptr<mlir::Pass> createDecomposeComposites(SpecificationTest isTaken);
} // namespace weft

#endif // WEFT_PASSES_KERNEL_PASSES_H
