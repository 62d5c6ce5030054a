//===- ExtendedInput.cpp --------------------------------------------------------------------------------===//

#include "dialects/weft/ExtendedInput.h"
#include "dialects/weft/Mesh.h"

using namespace mlir;

namespace weft {
namespace {

llvm::Error fail(const Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), reason);
}

/// Outputs that ranks put together of their parts lie in memory of their own.
bool isPutTogether(Value output) {
  while (auto move = output.getDefiningOp<ReshapeOp>())
    output = move.getInput();
  return output.getDefiningOp() && isa<CollectiveOpInterface>(output.getDefiningOp());
}

} // namespace

bool putsOutputsTogether(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  return meshOf(function) && llvm::any_of(end->getOperands(), isPutTogether);
}

llvm::Expected<ExtendedInput> findExtension(BlockArgument input) {
  ExtendedInput found;
  for (OpOperand &returned : input.getOwner()->getTerminator()->getOpOperands()) {
    auto concat = returned.get().getDefiningOp<ConcatOp>();
    if (!concat || concat.getInputs()[0] != input || concat.getInputs().size() < 2)
      continue;
    if (found.concat && found.concat != concat)
      return fail("several outputs extend it");
    if (!found.concat)
      found = {concat, returned.getOperandNumber()};
  }
  if (found.concat)
    return found;
  return fail(putsOutputsTogether(cast<func::FuncOp>(input.getOwner()->getParentOp()))
                  ? "ranks have parts of outputs, which they put together beside it"
                  : "no output is this input with something behind it");
}

std::string inputName(BlockArgument input) {
  auto function = cast<func::FuncOp>(input.getOwner()->getParentOp());
  auto name = function.getArgAttrOfType<StringAttr>(input.getArgNumber(), kNameAttr);
  return name ? name.str() : "input" + std::to_string(input.getArgNumber());
}

} // namespace weft
