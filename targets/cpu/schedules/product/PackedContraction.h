//===- PackedContraction.h - Products of rows and a weight that is packed into panels -----------------===//
//
//   if (auto shape = PackedContraction::match(spec)) … shape->weight.decode(…) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_PACKEDCONTRACTION_H
#define WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_PACKEDCONTRACTION_H

#include "targets/common/match/ContractionShape.h"
#include "targets/cpu/schedules/tile/PackedWeight.h"

namespace weft {

struct PackedContraction : ContractionShape {
  PackedWeight weight;
  int64_t mostK, mostN; ///< of the whole weight where ranks have parts of several sizes

  /// Of the weight, as it is stored.
  WeightLayout::Order order() const {
    return transposed ? WeightLayout::WidthByDepth : WeightLayout::DepthByWidth;
  }
  static Match<PackedContraction> match(mlir::func::FuncOp spec);
  /// Also of parts of several sizes: `k` or `n` may be symbols.
  static Match<PackedContraction> matchParts(mlir::func::FuncOp spec);
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_PRODUCT_PACKEDCONTRACTION_H
