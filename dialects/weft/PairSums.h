//===- PairSums.h - How many products of bytes fit a number of 16 bits ------------------------------===//
//
//   weft.contract … %x, %w {weft.pair_sums = 2 : i64}
//
// Kernels take the bytes that are summed in groups of four, and the two pairs of a group apart: whatever unsigned bytes a row has, the sums of
// the first pairs of two groups that follow each other, and those of the second pairs, are numbers of 16 bits:
//
//   group      0         1          2            3
//   k          0 1|2 3   4 5|6 7    8 9|10 11    12 13|14 15        0, 1, 4 and 5 fit, and 2, 3, 6 and 7, and 8, 9, 12 and 13, …
//
// So are the sums of some of these. Groups begin with each row of a product, and in windows with any pixel. Signed bytes count as unsigned
// ones that are 128 more.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_PAIRSUMS_H
#define WEFT_DIALECTS_WEFT_PAIRSUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// On a product of bytes by a constant weight: how many groups' pairs fit. 1, 2 or 4.
constexpr llvm::StringLiteral kPairSumsAttr = "weft.pair_sums";
constexpr int64_t kPairGroup = 4; ///< bytes
constexpr int64_t kMostPairSums = 4;

/// 0 where nobody says so.
inline int64_t pairSumsOf(mlir::Operation *product) {
  auto sums = product->getAttrOfType<mlir::IntegerAttr>(kPairSumsAttr);
  return sums ? sums.getInt() : 0;
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PAIRSUMS_H
