//===- ContractionShape.cpp - Recognises products of rows and a weight ----------------------------------===//

#include "targets/cpu/schedules/ContractionShape.h"
#include "dialects/weft/Rounding.h"

using namespace mlir;

namespace weft {
namespace {

ContractOp onlyRoot(func::FuncOp spec) {
  ContractOp op;
  for (Operation &each : spec.getBody().front())
    if (auto contract = dyn_cast<ContractOp>(each)) {
      if (op)
        return {};
      op = contract;
    } else if (auto element = dyn_cast<ElementOpInterface>(each);
               element && element.rootKind() != RootKind::Loop &&
               element.rootKind() != RootKind::View) {
      return {};
    }
  return op;
}

} // namespace

std::optional<std::pair<unsigned, unsigned>> matrixFactors(ArrayRef<Access> accesses) {
  while (accesses.size() > 2 && accesses.back().kind == AccessKind::Fixed)
    accesses = accesses.drop_back();
  if (accesses.size() != 2 || accesses[0].kind != AccessKind::Point ||
      accesses[1].kind != AccessKind::Point)
    return std::nullopt;
  return std::pair(accesses[0].factor(), accesses[1].factor());
}

std::optional<ContractionShape> ContractionShape::match(func::FuncOp spec) {
  ContractOp op = onlyRoot(spec);
  if (!op)
    return std::nullopt;
  auto rounding = op.getLhs().getDefiningOp<RoundBlocksOp>();
  auto a = dyn_cast<BlockArgument>(rounding ? rounding.getInput() : op.getLhs());
  if (a && rounding &&
      !RoundBlocksOp::isRegular(cast<SymTensorType>(a.getType()), rounding.getBlock()))
    return std::nullopt;
  auto type = cast<SymTensorType>(op.getResult().getType());
  if (!a || type.getRank() != 2 || !type.getElementType().isF32() ||
      !cast<SymTensorType>(a.getType()).getElementType().isF32())
    return std::nullopt;
  for (Type result : spec.getResultTypes())
    if (cast<SymTensorType>(result).getDimAttributes() != type.getDimAttributes())
      return std::nullopt;
  IterationRule rule = IterationRule::of(op);
  auto lhs = matrixFactors(rule.operand(0)), rhs = matrixFactors(rule.operand(1)),
       result = matrixFactors(rule.result(0));
  if (rule.factors().size() != 3 || !lhs || !rhs || !result)
    return std::nullopt;
  auto [m, n] = *result;
  unsigned k = 3 - m - n;
  if (*lhs != std::pair(m, k))
    return std::nullopt;
  bool transposed = rhs->first == n;
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  std::optional<PackedWeight> weight = PackedWeight::find(op.getRhs(), transposed ? 1 : 0);
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1 || !weight)
    return std::nullopt;
  return ContractionShape{op,      a.getArgNumber(), rounding ? int64_t(rounding.getBlock()) : 0,
                          *weight, type.getDim(0),   *kSize,
                          *nSize,  transposed};
}

} // namespace weft
