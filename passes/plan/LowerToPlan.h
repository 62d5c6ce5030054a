//===- LowerToPlan.h - From kernels on tensors to launches on memory --------------------------------===//
#ifndef WEFT_PASSES_PLAN_LOWERTOPLAN_H
#define WEFT_PASSES_PLAN_LOWERTOPLAN_H

#include "dialects/plan/Plan.h"
#include "passes/cost/KernelChoice.h"

namespace weft {

/// The text that a kernel is known by: equal text, equal code. The first line says for which target and how it is computed.
std::string kernelText(llvm::StringRef target, llvm::StringRef schedule,
                       mlir::func::FuncOp specification);
/// The symbol of its code.
std::string kernelName(llvm::StringRef text, const KernelChoice &choice);
/// Whether parts of weights that ranks gather can lie as a kernel wants its inputs.
bool canGatherAs(KernelOp kernel, llvm::ArrayRef<WeightLayout> layouts);
/// The names in a location, in order.
void collectNodes(mlir::Location location, std::vector<std::string> &nodes);

} // namespace weft

#endif // WEFT_PASSES_PLAN_LOWERTOPLAN_H
