//===- ScheduledTarget.cpp ----------------------------------------------------------------------===//

#include "targets/common/ScheduledTarget.h"

using namespace mlir;

namespace weft {

bool writesPackedElements(func::FuncOp spec) {
  return llvm::any_of(spec.getResultTypes(), [](Type type) {
    return isPacked(cast<SymTensorType>(type).getElementType());
  });
}

} // namespace weft
