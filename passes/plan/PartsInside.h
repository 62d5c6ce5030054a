//===- PartsInside.h - Kernels that cut their part out of a whole weight themselves --------------------===//
#ifndef WEFT_PASSES_PLAN_PARTSINSIDE_H
#define WEFT_PASSES_PLAN_PARTSINSIDE_H

#include "dialects/plan/WeightLayout.h"
#include "dialects/weft/Weft.h"

namespace weft {

/// Where ranks have parts of several sizes that are no ranges of the whole as the kernel wants it to lie: the kernel reads the whole then, and
/// slices it. Whether there are such.
bool takePartsInside(KernelOp kernel, llvm::ArrayRef<WeightLayout> layouts);

} // namespace weft

#endif // WEFT_PASSES_PLAN_PARTSINSIDE_H
