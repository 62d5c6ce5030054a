//===- Facts.h - What a caller promises about the symbols of a program ------------------------------------------------===//
//
//   if (Result<void> done = applyFacts(*module, {"seq <= 512", "batch == 4"}); !done) return done;
//
// Facts join the contract of every public function. A symbol that they leave one value for becomes that number everywhere.
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_FACTS_H
#define WEFT_COMPILER_MODEL_FACTS_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "weft/compiler.hpp"

namespace weft {

constexpr const char *kUnreadableFact = "W0302", *kContradictingFact = "W0303";

/// The facts that `texts` spell. Each may speak of `names` only.
Result<std::vector<SymPred>> readFacts(llvm::ArrayRef<std::string> texts,
                                       llvm::ArrayRef<mlir::StringAttr> names,
                                       mlir::MLIRContext *context);

/// Refuses facts that cannot be read, that promise more than the program allows, or that no size satisfies.
Result<void> applyFacts(mlir::ModuleOp module, llvm::ArrayRef<std::string> texts);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_FACTS_H
