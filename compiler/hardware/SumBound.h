//===- SumBound.h - How large sums of products get with the worst input -----------------------===//
//
//   std::optional<WorstSum> worst = worstSum(use, /*products=*/2, constants);
//   if (worst && !worst->fits(16)) …             // some input makes two products too large
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HARDWARE_SUMBOUND_H
#define WEFT_COMPILER_HARDWARE_SUMBOUND_H

#include "compiler/hardware/OperationUse.h"
#include "passes/quant/ConstantValues.h"

namespace weft {

/// How many elements of a product's weight are summed along what is read (of windows the channels),
/// and how many results they are summed for.
struct ProductSizes {
  SymExpr summed, kept;
  SymExpr groups; ///< or batches: what both operands and the result walk along
};
ProductSizes sizesOf(mlir::Operation *product);

/// The least and the most that a sum can be, whatever is read.
struct WorstSum {
  int64_t least = 0, most = 0;
  bool fits(int64_t bits) const {
    return bits >= 64 ||
           (least >= -(int64_t(1) << (bits - 1)) && most < (int64_t(1) << (bits - 1)));
  }
  /// The farther one from 0.
  int64_t farthest() const { return -least > most ? least : most; }
};

/// Of integers as they are stored, over the columns of a weight: any `products` of a sum, 0 for
/// all. Each element that is read is the one that makes it the worst, so no part of the sum is
/// farther from 0, in whatever order it is added.
WorstSum worstSum(llvm::ArrayRef<std::vector<int64_t>> columns, int64_t low, int64_t high,
                  int64_t products);

/// Of any weight with such elements: quicker, and often enough. Nothing where the number of
/// products is not known.
std::optional<WorstSum> worstSumOfTypes(mlir::Operation *product, mlir::Type read,
                                        mlir::Type weight, int64_t products);

/// Of a product's integers; nothing where its weight, or how much it sums, is not known.
std::optional<WorstSum> worstSum(const OperationUse &use, int64_t products,
                                 ConstantValues &constants);

/// The elements of a weight of a product by the results that they are summed for.
std::vector<std::vector<int64_t>> columnsOf(mlir::Operation *product, const RefTensor &weight);

} // namespace weft

#endif // WEFT_COMPILER_HARDWARE_SUMBOUND_H
