//===- PlanLaunch.h - Kernels of a plan, by their specifications ------------------------------===//
#ifndef WEFT_COMPILER_EVAL_PLANLAUNCH_H
#define WEFT_COMPILER_EVAL_PLANLAUNCH_H

#include "compiler/eval/PlanBuffers.h"

namespace weft {

/// One launch, or those that run together, in any order: none may read or write what another one
/// writes, nor write what it reads itself.
llvm::Error evaluateLaunches(llvm::ArrayRef<plan::LaunchOp> launches, const SymValues &symbols,
                             PlanBuffers &buffers, const EvaluateOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_EVAL_PLANLAUNCH_H
