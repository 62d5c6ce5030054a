//===- SplitStored.cpp - Cuts of elements that share bytes and of blocks ----------------------------===//

#include "dialects/weft/interfaces/SplitStored.h"
#include <numeric>

using namespace mlir;

namespace weft {

/// By how many steps a cut must go on so that the elements of all of them fill bytes.
static int64_t stepsOfBytes(SymTensorType type, const Cut::Dim &dim) {
  int64_t perByte = 8 / elementBits(type.getElementType());
  SymExpr elements = dim.stride;
  for (unsigned d = dim.dim + 1; d < type.getRank(); ++d)
    elements = elements * type.getDim(d);
  std::optional<int64_t> count = elements.asConstant();
  return count ? perByte / std::gcd(perByte, *count) : perByte;
}

void fillBytes(Operation *op, Cut &cut) {
  int64_t steps = 1;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), cut.operands))
    if (auto type = cast<SymTensorType>(operand.getType());
        dim && isPacked(type.getElementType()) && !operand.getDefiningOp<FillOp>())
      steps = std::max(steps, stepsOfBytes(type, *dim)); // powers of two
  for (MutableArrayRef<std::optional<Cut::Dim>> dims :
       {MutableArrayRef(cut.operands), MutableArrayRef(cut.results)})
    for (std::optional<Cut::Dim> &dim : dims)
      if (dim)
        dim->stride = dim->stride * steps;
}

SmallVector<Cut, 4> cutsOfBlocks(DequantizeBlocksOp op) {
  auto type = cast<SymTensorType>(op.getInput().getType());
  SymExpr one = SymExpr::constant(op.getContext(), 1);
  SmallVector<Cut, 4> cuts;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    SymExpr stride = SymExpr::constant(op.getContext(), d == op.getAxis() ? op.getBlock() : 1);
    auto areWhole = [&](Value parameter) {
      return cast<SymTensorType>(parameter.getType()).getDim(d) * stride == type.getDim(d);
    };
    if (!llvm::all_of(op.getOperands().drop_front(), areWhole))
      continue;
    Cut &cut = cuts.emplace_back();
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      cut.operands.push_back(Cut::Dim{d, i == 0 ? stride : one});
    cut.results.push_back(Cut::Dim{d, stride});
    fillBytes(op, cut);
  }
  return cuts;
}

} // namespace weft
