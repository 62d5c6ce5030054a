//===- GatheredWeights.h - Weights of which a rank reads a part and uses the whole ----------------------===//
#ifndef WEFT_PASSES_PARALLEL_GATHEREDWEIGHTS_H
#define WEFT_PASSES_PARALLEL_GATHEREDWEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// Behind splitting, of a function whose constants still have placements. Returns how many collectives were inserted.
unsigned gatherWeights(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_GATHEREDWEIGHTS_H
