//===- Passes.h - Passes on quantised models and narrow numbers --------------------------------===//
#ifndef WEFT_PASSES_QUANT_PASSES_H
#define WEFT_PASSES_QUANT_PASSES_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace weft {
#define GEN_PASS_DECL
#include "passes/quant/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/quant/Passes.h.inc"

/// With access to the bytes of named weights; without, only constants written in the program are known.
std::unique_ptr<mlir::Pass>
createMoveQuantisations(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createUseIntegers(std::function<const char *(llvm::StringRef)> weight,
                                              const UseIntegersOptions &options);
std::unique_ptr<mlir::Pass>
createStoreParameters(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createFoldScales(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createBoundNumbers(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createBoundPairs(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createBoundSums(std::function<const char *(llvm::StringRef)> weight);
std::unique_ptr<mlir::Pass> createTabulateBytes(std::function<const char *(llvm::StringRef)> weight,
                                                const TabulateBytesOptions &options);
} // namespace weft

#endif // WEFT_PASSES_QUANT_PASSES_H
