//===- ContractionShape.cpp - Recognises products of rows and a weight ----------------------------------===//

#include "targets/common/match/ContractionShape.h"
#include "dialects/weft/ops/Rounding.h"

using namespace mlir;

namespace weft {
std::optional<std::pair<unsigned, unsigned>> matrixFactors(ArrayRef<Access> accesses) {
  while (accesses.size() > 2 && accesses.back().kind == AccessKind::Fixed)
    accesses = accesses.drop_back();
  if (accesses.size() != 2 || accesses[0].kind != AccessKind::Point ||
      accesses[1].kind != AccessKind::Point)
    return std::nullopt;
  return std::pair(accesses[0].factor(), accesses[1].factor());
}

Match<ContractionShape> ContractionShape::match(func::FuncOp spec, bool anySizes) {
  Match<ContractOp> root = onlyRoot<ContractOp>(spec, kNoProduct);
  if (!root)
    return root.decline();
  ContractOp op = *root;
  auto rounding = op.getLhs().getDefiningOp<RoundBlocksOp>();
  auto a = dyn_cast<BlockArgument>(rounding ? rounding.getInput() : op.getLhs());
  if (!a)
    return Decline{"the rows are not in memory as they are multiplied"};
  if (rounding && !RoundBlocksOp::isRegular(cast<SymTensorType>(a.getType()), rounding.getBlock()))
    return Decline{"the blocks that rows are rounded in do not divide them"};
  auto type = cast<SymTensorType>(op.getResult().getType());
  Type element = cast<SymTensorType>(a.getType()).getElementType();
  if (!type.getElementType().isF32() || !(element.isF32() || isHalf(element)))
    return Decline{"the rows are no floats of 16 or 32 bits, or the sums are not f32"};
  if (Decline why = unlessResultsHave(type, spec))
    return why;
  IterationRule rule = IterationRule::of(op);
  auto lhs = matrixFactors(rule.operand(0)), rhs = matrixFactors(rule.operand(1)),
       result = matrixFactors(rule.result(0));
  if (type.getRank() != 2 || rule.factors().size() != 3 || !lhs || !rhs || !result)
    return Decline{kNotTwoMatrices};
  auto [m, n] = *result;
  unsigned k = 3 - m - n;
  if (*lhs != std::pair(m, k))
    return Decline{kNotRows};
  bool transposed = rhs->first == n;
  SymExpr depth = rule.factors()[k].extent, width = rule.factors()[n].extent;
  auto sizeOf = [&](SymExpr extent) { return extent.asConstant().value_or(anySizes ? 1 : 0); };
  if (sizeOf(depth) < 1 || sizeOf(width) < 1)
    return Decline{kNotConstant};
  int64_t roundedBlock = rounding ? int64_t(rounding.getBlock()) : 0;
  return ContractionShape{op,
                          a.getArgNumber(),
                          roundedBlock,
                          element,
                          type.getDim(0),
                          depth.asConstant().value_or(0),
                          width.asConstant().value_or(0),
                          transposed,
                          depth,
                          width};
}

} // namespace weft
