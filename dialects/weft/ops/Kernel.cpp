//===- Kernel.cpp - kernel and yield ------------------------------------------------------------===//

#include "dialects/weft/Weft.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/weft/WeftOps.cpp.inc"

namespace weft {

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has block arguments that differ from its operands");
  if (block.getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("yields types that differ from its results");
  return success();
}

} // namespace weft
