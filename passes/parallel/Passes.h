//===- Passes.h - Passes that give ranks their parts of the work -------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_PASSES_H
#define WEFT_PASSES_PARALLEL_PASSES_H

#include "dialects/weft/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/parallel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/parallel/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PARALLEL_PASSES_H
