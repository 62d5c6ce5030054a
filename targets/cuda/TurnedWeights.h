//===- TurnedWeights.h - Weights whose first dimension threads hold neighbours of -------------------------===//
//
// A filter [columns, channels, taps…] gives results whose last dimension is its first: as the model stores it, neighbouring results read elements
// that lie far apart. In panels they lie side by side: [panels][channels, taps…][columns of a panel].
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_TURNEDWEIGHTS_H
#define WEFT_TARGETS_CUDA_TURNEDWEIGHTS_H

#include "targets/cuda/SimtKernel.h"

namespace weft {

/// `layouts` with panels for such weights; others stay.
void turnWeights(mlir::func::FuncOp spec, llvm::SmallVectorImpl<WeightLayout> &layouts);

/// Elements of turned weights are read from panels.
void readTurnedWeights(SimtKernel &k, llvm::ArrayRef<WeightLayout> layouts);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_TURNEDWEIGHTS_H
