//===- SplitFunctions.h - One function, for every rank of a mesh --------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_SPLITFUNCTIONS_H
#define WEFT_PASSES_PARALLEL_SPLITFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/parallel/RingShares.h"

namespace weft {

/// Of a function with `weft.split_over`: every rank computes its part. Returns how many collectives were inserted.
unsigned splitOverMesh(mlir::func::FuncOp function, const RingShares &shares = RingShares());

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_SPLITFUNCTIONS_H
