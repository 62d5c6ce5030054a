//===- Passes.h - Passes that make kernels and change them -------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_PASSES_H
#define WEFT_PASSES_KERNEL_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/cost/KernelChoice.h"
#include <memory>

namespace weft {
#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"

/// Leaves what the chooser takes alone as it is; without one, nothing.
std::unique_ptr<mlir::Pass> createDecomposeComposites(std::shared_ptr<const KernelChooser> chooser);
/// Asks the chooser for each attention; without one, all are taken.
std::unique_ptr<mlir::Pass> createFormKernels(const FormKernelsOptions &options,
                                              std::shared_ptr<const KernelChooser> chooser);
} // namespace weft

#endif // WEFT_PASSES_KERNEL_PASSES_H
