//===- Passes.h - Passes that make kernels and change them -------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_PASSES_H
#define WEFT_PASSES_KERNEL_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_KERNEL_PASSES_H
