//===- ByteContraction.h - Products of rows of integers and a constant weight of bytes -------------===//
//
//   if (auto s = ByteContraction::match(spec)) … s->k, s->order() …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BYTECONTRACTION_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BYTECONTRACTION_H

#include "dialects/plan/WeightLayout.h"
#include "targets/common/match/Match.h"

namespace weft {

struct ByteContraction {
  mutable ContractOp op; ///< a handle; its methods are not const
  unsigned lhs, rhs;     ///< arguments of the specification
  SymExpr m;
  int64_t k, n;
  bool transposed;   ///< W is stored as [n, k]
  bool hasShortRows; ///< of 16 bits; else of bytes

  int64_t rowBytes() const { return hasShortRows ? 2 * k : k; }
  WeightLayout::Order order() const {
    return transposed ? WeightLayout::WidthByDepth : WeightLayout::DepthByWidth;
  }
  /// `m k, k n -> m n` or `m k, n k -> m n` on arguments of bytes, or of signed rows of 16 bits and signed bytes,
  /// summed in i32, W a weight; more dimensions of W are 1.
  static Match<ByteContraction> match(mlir::func::FuncOp spec);
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_BYTECONTRACTION_H
