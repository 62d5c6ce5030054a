//===- WalkOrder.cpp ------------------------------------------------------------------------------===//

#include "targets/common/match/WalkOrder.h"
#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {

/// Dimension `fromRight` of a tensor; 1 when it has fewer.
static bool isOne(SymTensorType type, unsigned fromRight) {
  return fromRight >= type.getRank() || type.getDim(type.getRank() - 1 - fromRight).isConstant(1);
}

/// Of the operation's result, by each operand.
static bool isInOrder(Operation *op, unsigned behind, unsigned count) {
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule || op->getNumResults() != 1)
    return false;
  IterationRule bound = rule.rule();
  ArrayRef<Access> result = bound.result(0);
  auto resultType = cast<SymTensorType>(op->getResult(0).getType());
  for (unsigned i = 0; i < bound.operandCount(); ++i) {
    ArrayRef<Access> operand = bound.operand(i);
    auto type = cast<SymTensorType>(op->getOperand(i).getType());
    bool all = true, none = true;
    for (unsigned d = behind; d < behind + count; ++d) {
      bool one = isOne(type, d),
           same = d < type.getRank() && d < resultType.getRank() && one == isOne(resultType, d);
      if (!one) {
        const Access &a = operand[operand.size() - 1 - d];
        if (!same || a.kind != AccessKind::Point ||
            result[result.size() - 1 - d].kind != AccessKind::Point ||
            a.factor() != result[result.size() - 1 - d].factor())
          return false;
      }
      all &= same, none &= one;
    }
    if (!all && !none)
      return false;
  }
  return true;
}

bool walksInOrder(Operation *root, unsigned behind, unsigned count) {
  for (Operation &each : *root->getBlock()) {
    if (&each == root || each.hasTrait<OpTrait::IsTerminator>() || isa<FillOp, ConstantOp>(each))
      continue;
    if (each.getNumOperands() == 0 || !isInOrder(&each, behind, count))
      return false;
  }
  return true;
}

} // namespace weft
