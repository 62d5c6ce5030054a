//===- ReductionShape.cpp ---------------------------------------------------------------------------===//

#include "targets/common/match/ReductionShape.h"

using namespace mlir;

namespace weft {

static ReductionShape shapeOf(Operation *root, ArrayRef<int64_t> axes) {
  ReductionShape shape{root, cast<SymTensorType>(root->getOperand(0).getType()), {}, {}, {}, {}};
  for (auto [d, dim] : llvm::enumerate(shape.input.getDims())) {
    bool isReduced = llvm::is_contained(axes, int64_t(d));
    (isReduced ? shape.reduced : shape.kept).push_back(int64_t(d));
    (isReduced ? shape.reducedDims : shape.keptDims).push_back(dim);
  }
  return shape;
}

Match<ReductionShape> matchReduction(func::FuncOp spec) {
  Match<ReduceOp> reduce = onlyRoot<ReduceOp>(spec, "there is no reduction");
  Match<ArgReduceOp> extreme = onlyRoot<ArgReduceOp>(spec, "there is no reduction");
  if (!reduce && !extreme)
    return reduce.decline();
  ReductionShape shape = reduce ? shapeOf(*reduce, reduce->getAxes())
                                : shapeOf(*extreme, {int64_t(extreme->getAxis())});
  if (shape.reduced.empty())
    return Decline{"the reduction is over no dimension"};
  if (Decline why =
          unlessResultsHave(cast<SymTensorType>(shape.root->getResult(0).getType()), spec))
    return why;
  return shape;
}

} // namespace weft
