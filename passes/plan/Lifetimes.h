//===- Lifetimes.h - From when to when memory of a plan is used ---------------------------------------===//
//
// Time counts the steps of the host: launches that run together have one. What a loop's body reads of what was there before is needed again
// the next time, so it lives until the loop ends.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_LIFETIMES_H
#define WEFT_PASSES_PLAN_LIFETIMES_H

#include "dialects/plan/Plan.h"
#include "passes/plan/PlanMemory.h"

namespace weft {

struct Lifetimes {
  llvm::SmallVector<plan::MemoryOp> memory; ///< in the order of the program
  llvm::SmallVector<StorageClass> classes;  ///< of each
  llvm::SmallVector<plan::ReserveOp> late;  ///< blocks 1, 2, …; block 0 is the arena
};

Lifetimes lifetimesOf(plan::FuncOp function);

} // namespace weft

#endif // WEFT_PASSES_PLAN_LIFETIMES_H
