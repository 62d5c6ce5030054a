//===- SerialShape.cpp --------------------------------------------------------------------------===//

#include "targets/common/match/SerialShape.h"

using namespace mlir;

namespace weft {

constexpr const char *kNoLoops = "no operator has loops of its own";

static Match<ElementOpInterface> findRoot(func::FuncOp spec) {
  ElementOpInterface root;
  for (Operation &op : spec.getBody().front()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!element || element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::View)
      continue;
    if (element.rootKind() != RootKind::Serial)
      return Decline::otherKind(kNoLoops);
    if (root)
      return Decline{"two operators have loops of their own"};
    root = element;
  }
  if (!root)
    return Decline::otherKind(kNoLoops);
  return root;
}

Match<ElementOpInterface> matchSerial(func::FuncOp spec) {
  Match<ElementOpInterface> root = findRoot(spec);
  if (!root)
    return root;
  for (Value value : spec.getBody().front().getTerminator()->getOperands())
    if (value.getDefiningOp() != *root)
      return Decline{"a result is not computed by the operator with loops of its own"};
  return root;
}

} // namespace weft
