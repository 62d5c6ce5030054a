//===- LowerToPlan.h - From kernels on tensors to launches on memory --------------------------------===//
#ifndef WEFT_PASSES_PLAN_LOWERTOPLAN_H
#define WEFT_PASSES_PLAN_LOWERTOPLAN_H

#include "dialects/plan/Plan.h"
#include "passes/cost/KernelChoice.h"
#include "passes/kernel/Specification.h"

namespace weft {

/// The text that a kernel is known by: equal text, equal code. The first line says for which target and how it is computed.
std::string kernelText(llvm::StringRef target, llvm::StringRef schedule,
                       mlir::func::FuncOp specification);
/// The symbol of its code.
std::string kernelName(llvm::StringRef text, const KernelChoice &choice);
/// The kernel's specification, where weights that ranks gather, and parts of several sizes, can lie as is wanted by what `choose` gives for it. A
/// kernel that wants a part to lie otherwise takes it in.
Specification
specifyAsStored(KernelOp kernel,
                llvm::function_ref<std::optional<KernelChoice>(mlir::func::FuncOp)> choose);
/// The names in a location, in order.
void collectNodes(mlir::Location location, std::vector<std::string> &nodes);

} // namespace weft

#endif // WEFT_PASSES_PLAN_LOWERTOPLAN_H
