//===- PackedContraction.cpp - Which products have a weight that panels are made of -------------------===//

#include "targets/cpu/schedules/product/PackedContraction.h"

using namespace mlir;

namespace weft {

Match<PackedContraction> PackedContraction::match(func::FuncOp spec) {
  Match<ContractionShape> shape = ContractionShape::match(spec);
  if (!shape)
    return shape.decline();
  std::optional<PackedWeight> weight = PackedWeight::find(shape->op.getRhs(), shape->depthDim());
  if (!weight)
    return Decline{"the second matrix is no constant that panels are made of"};
  return PackedContraction{*shape, *weight};
}

} // namespace weft
