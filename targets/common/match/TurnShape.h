//===- TurnShape.h - Kernels whose results lie in another order than what they read -------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_TURNSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_TURNSHAPE_H

#include "targets/common/match/Match.h"

namespace weft {

/// Results [outer…, turned, inner…] of operands whose last dimension is `turned`: who reads them in order does not write in order.
struct TurnShape {
  llvm::SmallVector<SymExpr> dims; ///< of the results
  unsigned turned;                 ///< before the last

  SymExpr turnedSize() const { return dims[turned]; }
  /// Elements of the inner dimensions, which follow each other.
  SymExpr line() const;
  llvm::ArrayRef<SymExpr> outer() const { return llvm::ArrayRef(dims).take_front(turned); }
  llvm::ArrayRef<SymExpr> inner() const { return llvm::ArrayRef(dims).drop_front(turned + 1); }

  /// The kernel computes element by element, and all tensors that it reads lie in that order, but for vectors.
  static Match<TurnShape> match(mlir::func::FuncOp spec);
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_TURNSHAPE_H
