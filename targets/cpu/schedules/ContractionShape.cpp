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

bool areTwoPoints(ArrayRef<Access> accesses) {
  return accesses.size() == 2 && accesses[0].kind == AccessKind::Point &&
         accesses[1].kind == AccessKind::Point;
}

} // namespace

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
  if (rule.factors().size() != 3 || !areTwoPoints(rule.operand(0)) ||
      !areTwoPoints(rule.operand(1)) || !areTwoPoints(rule.result(0)))
    return std::nullopt;
  unsigned m = rule.result(0)[0].factor(), n = rule.result(0)[1].factor(), k = 3 - m - n;
  if (rule.operand(0)[0].factor() != m || rule.operand(0)[1].factor() != k)
    return std::nullopt;
  bool transposed = rule.operand(1)[0].factor() == n;
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  std::optional<PackedWeight> weight = PackedWeight::find(op.getRhs(), transposed ? 1 : 0);
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1 || !weight)
    return std::nullopt;
  return ContractionShape{op,      a.getArgNumber(), rounding ? int64_t(rounding.getBlock()) : 0,
                          *weight, type.getDim(0),   *kSize,
                          *nSize,  transposed};
}

} // namespace weft
