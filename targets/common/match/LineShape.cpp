//===- LineShape.cpp ----------------------------------------------------------------------------===//

#include "targets/common/match/LineShape.h"

using namespace mlir;

namespace weft {

/// Other roots would read elements of the lines that are not at hand.
static Match<Operation *> findRoot(func::FuncOp spec) {
  Operation *root = nullptr;
  bool hasOthers = false;
  for (Operation &op : spec.getBody().front()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    RootKind kind = element ? element.rootKind() : RootKind::View;
    if (kind == RootKind::Loop || kind == RootKind::View)
      continue;
    if (kind != RootKind::Row) {
      hasOthers = true;
      continue;
    }
    if (root)
      return Decline{"there are two softmaxes, normalisations or reductions"};
    root = &op;
  }
  if (!root)
    return Decline::otherKind("there is no softmax, normalisation or reduction");
  if (hasOthers)
    return Decline{"there is a product, a window or an operator with loops of its own, too"};
  return root;
}

static bool reducesLastOnly(ReduceOp op) {
  auto type = cast<SymTensorType>(op.getInput().getType());
  return op.getAxes().size() == 1 && op.getAxes()[0] == int64_t(type.getRank()) - 1;
}

SymTensorType lineType(Operation *root) {
  return cast<SymTensorType>(root->getOperand(0).getType());
}

Match<Operation *> matchLines(func::FuncOp spec) {
  Match<Operation *> root = findRoot(spec);
  if (!root)
    return root;
  SmallVector<SymExpr> dims = lineType(*root).getDims();
  if (auto reduce = dyn_cast<ReduceOp>(*root)) {
    if (!reducesLastOnly(reduce))
      return Decline{"the reduction is not over the last dimension alone"};
    dims.pop_back();
  } else if (!isa<SoftmaxOp, NormalizeOp>(*root)) {
    return Decline{"there is no code for its lines"};
  }
  for (Type type : spec.getResultTypes())
    if (cast<SymTensorType>(type).getDims() != dims)
      return Decline{"a result of the kernel has other dimensions"};
  return root;
}

} // namespace weft
