//===- PassPrograms.h - A model on its way through the passes, step by step -------------------------===//
//
//   Result<std::vector<PassProgram>> programs = programsAfterPasses(module, options);
//
// For tools that look for the pass that changed something: each program can be printed and evaluated.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PASSPROGRAMS_H
#define WEFT_COMPILER_DRIVER_PASSPROGRAMS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "weft/compiler.hpp"

namespace weft {

/// A program, and the pass that left it so.
struct PassProgram {
  std::string pass; ///< as weft-opt names it: "canonicalize", "weft-form-kernels"
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

/// The programs that lead to the plan that code is generated from, for the best target: first "import" (with the options' facts), then
/// one per pass. They live in the module's context, which must outlive them, and have its weights.
Result<std::vector<PassProgram>> programsAfterPasses(const Module &module,
                                                     const CompileOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PASSPROGRAMS_H
