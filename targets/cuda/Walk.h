//===- Walk.h - A thread's elements, several on their way at any time ----------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_WALK_H
#define WEFT_TARGETS_CUDA_WALK_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

using Values = llvm::SmallVector<mlir::Value>;

/// How many loads of so many bytes fill the time until the first is there.
int64_t loadsOnTheWay(int64_t bytes);

/// Positions from..to, `step` apart, of which `together` are loaded before the first of them is added.
struct Walk {
  mlir::Value from, to, step;
  int64_t together;
};

/// The state becomes what `add` makes of it and of what `load` gave, in the order of positions.
struct WalkSteps {
  llvm::function_ref<Values(mlir::Value position)> load;
  llvm::function_ref<Values(mlir::ValueRange state, mlir::ValueRange loaded, mlir::Value position)>
      add;
};

Values walk(SimtKernel &k, mlir::ValueRange state, Walk walk, WalkSteps steps);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_WALK_H
