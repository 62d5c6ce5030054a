//===- ProductShape.h - Kernels that multiply two values, stacks of matrices --------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_PRODUCTSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_PRODUCTSHAPE_H

#include "dialects/weft/interfaces/Element.h"
#include "targets/common/match/Match.h"

namespace weft {

/// out[o.., m, n] = epilogue(sum over k of A[o.., m, k] * B[o.., k, n]), summed in f32 of floats, or in i32 of bytes, with everything symbolic; dimensions may lie in any
/// order but for n, which is the result's last, and each outer factor o may be absent from one side.
struct ProductShape {
  /// Which factor each dimension of a tensor follows, but for dimensions of 1 behind them.
  using Factors = llvm::SmallVector<unsigned>;

  ContractOp op;
  mlir::Value a, b;
  Factors inA, inB, inResult;
  llvm::SmallVector<unsigned> outer; ///< factors
  unsigned m, n, k;
  IterationRule rule;

  SymExpr extent(unsigned factor) const { return rule.factors()[factor].extent; }
  /// The index of a tensor whose dimensions follow `factors`.
  llvm::SmallVector<IndexValue> indexOf(const Factors &factors, llvm::ArrayRef<mlir::Value> outer,
                                        IndexValue m, IndexValue n, IndexValue k) const;

  /// The kernel's only root is such a product, and its results have the product's dimensions.
  static Match<ProductShape> match(mlir::func::FuncOp spec, bool alsoBytes = false);
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_PRODUCTSHAPE_H
