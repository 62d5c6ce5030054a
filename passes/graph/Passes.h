//===- Passes.h - Passes on the program of operators -------------------------------------------===//
#ifndef WEFT_PASSES_GRAPH_PASSES_H
#define WEFT_PASSES_GRAPH_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_GRAPH_PASSES_H
