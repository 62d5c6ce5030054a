//===- InPlace.cpp - Reads what weft-grow-in-place leaves ---------------------------------------------------===//

#include "dialects/weft/ops/InPlace.h"

using namespace mlir;

namespace weft {

std::optional<InPlaceWrite> inPlaceWrite(Value result) {
  auto concat = result ? result.getDefiningOp<ConcatOp>() : ConcatOp();
  if (!concat || !concat->hasAttr(kInPlaceAttr) || concat.getInputs().size() != 3)
    return std::nullopt;
  auto begin = concat.getInputs()[0].getDefiningOp<SliceOp>();
  if (!begin || begin.getInput().getType() != result.getType())
    return std::nullopt;
  unsigned dim = concat.getDim();
  return InPlaceWrite{begin.getInput(), concat.getInputs()[1], dim,
                      cast<SymTensorType>(begin.getResult().getType()).getDim(dim)};
}

Value writtenValue(Value result) {
  std::optional<InPlaceWrite> write = inPlaceWrite(result);
  return write ? write->part : result;
}

} // namespace weft
