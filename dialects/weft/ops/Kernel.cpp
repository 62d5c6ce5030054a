//===- Kernel.cpp - kernel and yield ------------------------------------------------------------===//

#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {

/// Quoted, as names of what generates code are everywhere.
static ParseResult parseRoot(OpAsmParser &parser, RootKindAttr &root) {
  std::string name;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseString(&name))
    return failure();
  std::optional<RootKind> kind = symbolizeRootKind(name);
  if (!kind)
    return parser.emitError(place) << "there is no family of schedules '" << name << "'";
  root = RootKindAttr::get(parser.getContext(), *kind);
  return success();
}

static void printRoot(OpAsmPrinter &printer, KernelOp, RootKindAttr root) {
  printer << '"' << stringifyRootKind(root.getValue()) << '"';
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/WeftOps.cpp.inc"

namespace weft {

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has block arguments that differ from its operands");
  if (block.getTerminator()->getOperandTypes() == getResultTypes())
    return success();
  InFlightDiagnostic error = emitOpError("yields types that differ from its results");
  error.attachNote(block.getTerminator()->getLoc()) << "they are yielded here";
  return error;
}

} // namespace weft
