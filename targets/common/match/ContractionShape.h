//===- ContractionShape.h - Kernels that multiply rows by a constant weight -----------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_CONTRACTIONSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_CONTRACTIONSHAPE_H

#include "targets/common/match/Match.h"

namespace weft {

/// Why schedules of products decline.
constexpr const char *kNoProduct = "there is no product",
                     *kNotTwoMatrices = "the product is not of two matrices",
                     *kNotRows = "the summed dimension is not the last of the rows",
                     *kNotConstant = "the sizes of the weight are no positive constants";

/// The factors that a matrix's rows and columns walk over. What follows them with size 1, as in a filter of one pixel, does not count.
/// Nothing for other tensors.
std::optional<std::pair<unsigned, unsigned>> matrixFactors(llvm::ArrayRef<Access> accesses);

/// `m k, k n -> m n` or `m k, n k -> m n` summed in f32 with constant k and n, of an argument of floats, as it is or with its rows rounded,
/// and whatever is the second operand.
struct ContractionShape {
  mutable ContractOp op; ///< a handle; its methods are not const
  unsigned lhs;          ///< argument of the specification
  int64_t
      roundedBlock; ///< elements that weft.round_blocks gives one step; 0: rows are used as they are
  mlir::Type element; ///< of the rows: f32, f16 or bf16
  SymExpr m;
  int64_t k, n;
  bool transposed;      ///< the second operand is [n, k]
  SymExpr depth, width; ///< k and n, which are 0 where ranks have parts of several sizes
  /// The dimension of the second operand that is summed over.
  unsigned depthDim() const { return transposed ? 1 : 0; }

  /// The kernel's only root is such a product, and its results have the product's dimensions. `k` and `n` may be symbols if `anySizes`.
  static Match<ContractionShape> match(mlir::func::FuncOp spec, bool anySizes = false);
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_CONTRACTIONSHAPE_H
