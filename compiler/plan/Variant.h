//===- Variant.h - A model for one target -------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PLAN_VARIANT_H
#define WEFT_COMPILER_PLAN_VARIANT_H

#include "compiler/plan/PlannedProgram.h"
#include "targets/common/Registry.h"

namespace weft {

/// An artifact has one or several, the best first; weights are common to them.
struct Variant {
  FoundTarget target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringRef phase; ///< the last one that it has behind it
  Program program;
};

} // namespace weft

#endif
