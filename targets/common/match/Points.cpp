//===- Points.cpp -------------------------------------------------------------------------------===//

#include "targets/common/match/Points.h"
#include "dialects/weft/Aliases.h"

using namespace mlir;

namespace weft {

static SymTensorType typeWritten(Value result) {
  return cast<SymTensorType>(writtenValue(result).getType());
}

Match<SymTensorType> matchPoints(func::FuncOp spec) {
  for (Operation &op : spec.getBody().front()) {
    if (isa<CompositeOpInterface>(op))
      return Decline{"an operator needs whole lines, which elements cannot be pulled from"};
    if (auto element = dyn_cast<ElementOpInterface>(op);
        element && element.rootKind() == RootKind::Serial)
      return Decline{"an operator has loops of its own"};
  }
  auto results = spec.getBody().front().getTerminator()->getOperands();
  SymTensorType space = typeWritten(results[0]);
  for (Value result : results)
    if (typeWritten(result).getDimAttributes() != space.getDimAttributes())
      return Decline{"a result of the kernel has other dimensions"};
  return space;
}

} // namespace weft
