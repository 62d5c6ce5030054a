//===- ReductionShape.h - Kernels that combine elements along some dimensions -----------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_REDUCTIONSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_REDUCTIONSHAPE_H

#include "targets/common/match/Match.h"

namespace weft {

/// What is combined, and along which of its dimensions.
struct ReductionShape {
  mlir::Operation *root; ///< a reduction, or where the extremes of lines are
  SymTensorType input;
  llvm::SmallVector<int64_t> reduced, kept; ///< dimensions of the input, ascending
  llvm::SmallVector<SymExpr> reducedDims, keptDims;

  /// Elements of the input follow each other along a dimension that the result lacks.
  bool isAlongLines() const { return reduced.back() == int64_t(input.getRank()) - 1; }
};

/// The kernel's only root is such an operator, and all results have its dimensions.
Match<ReductionShape> matchReduction(mlir::func::FuncOp spec);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_REDUCTIONSHAPE_H
