//===- Rounding.cpp - round_blocks: types ------------------------------------------------------===//

#include "dialects/weft/ops/Rounding.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult RoundBlocksOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = tensorType(adaptor.getInput());
  int64_t block = adaptor.getBlock();
  if (!type.getElementType().isF32() || type.getRank() == 0 ||
      !type.getDim(type.getRank() - 1).asConstant()) // R1
    return emitOptionalError(
        location,
        "'weft.round_blocks' needs lines of f32 with a constant length, but its operand is ", type);
  if (block < 1 || block > (int64_t(1) << 31)) // R2
    return emitOptionalError(location, "'weft.round_blocks' cannot have blocks of ", block);
  results.push_back(type);
  return success();
}

bool RoundBlocksOp::isRegular(SymTensorType rows, int64_t block) {
  constexpr int64_t lanes = 16, most = 256;
  auto length = rows.getRank() ? rows.getDim(rows.getRank() - 1).asConstant() : std::nullopt;
  return length && block > 0 && block % lanes == 0 && block <= most && *length % block == 0;
}

SmallVector<Cut, 4> RoundBlocksOp::cuts() {
  SmallVector<Cut, 4> cuts = cutsByText(*this, ruleText());
  auto type = tensorType(getInput());
  unsigned last = type.getRank() - 1;
  if (type.getDim(last).asConstant().value_or(1) % getBlock() == 0) {
    Cut::Dim blocks{last, SymExpr::constant(getContext(), getBlock())};
    cuts.push_back({{blocks}, {blocks}, std::nullopt, false});
  }
  return cuts;
}

/// Regular rows in memory are rounded where they are read, so that the product that reads them sees what is rounded. Others become a tensor
/// in memory: every element costs a walk over its block.
RootKind RoundBlocksOp::rootKind() {
  Operation *source = getInput().getDefiningOp();
  while (auto reshape = dyn_cast_if_present<ReshapeOp>(source))
    source = reshape.getInput().getDefiningOp();
  auto element = dyn_cast_if_present<ElementOpInterface>(source);
  bool moved = element && element.rootKind() == RootKind::View;
  return isRegular(tensorType(getInput()), getBlock()) && !moved ? RootKind::View : RootKind::Loop;
}

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/RoundingOps.cpp.inc"
