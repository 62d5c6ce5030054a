//===- NamedPlans.h - Plans that have names ---------------------------------------------------------===//
//
//   tp     weights of products by outputs, of the next ones by what they sum: column and row pairs, over the last axis
//   sp     the same, and inputs by their second size, such as tokens
//   dp     inputs by their first size, such as a batch, over the first axis
//   fsdp   the same, and ranks read parts of weights, which they gather before they use them
//   dp+tp, dp+sp    both, over two axes
//   2d     weights in blocks: what is summed over the first axis, outputs over the second
//   3d     inputs by their first size over the first axis, weights in blocks over the others
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_NAMEDPLANS_H
#define WEFT_PASSES_PARALLEL_NAMEDPLANS_H

#include "passes/parallel/PlanSpace.h"

namespace weft {

/// `tp`, `sp`, `dp`, `fsdp`, `2d`, `3d`: what users may ask for.
llvm::ArrayRef<llvm::StringRef> planNames();
/// Also those that a search starts from, for a mesh of so many axes.
std::vector<llvm::StringRef> planNames(unsigned axes);
/// How many axes its mesh has; 0 for a name of none.
unsigned axesOfPlan(llvm::StringRef name);
/// The mesh of a plan when only the number of ranks is given.
MeshAttr meshOfPlan(mlir::MLIRContext *context, llvm::StringRef name, int64_t ranks);

PlanChoice namedPlan(PlanSpace &space, llvm::StringRef name);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_NAMEDPLANS_H
