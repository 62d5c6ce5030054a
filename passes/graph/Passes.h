//===- Passes.h - Passes on the program of operators -------------------------------------------===//
#ifndef WEFT_PASSES_GRAPH_PASSES_H
#define WEFT_PASSES_GRAPH_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace weft {
#define GEN_PASS_DECL
#include "passes/graph/Passes.h.inc"
/// With access to the bytes of named weights; without, only constants written in the program are known.
std::unique_ptr<mlir::Pass>
createFoldConstants(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass>
createConvolvePhases(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass>
createCheckPositions(CheckPositionsOptions options,
                     std::function<const char *(llvm::StringRef)> weight);

#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_GRAPH_PASSES_H
