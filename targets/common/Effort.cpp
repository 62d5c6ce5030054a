//===- Effort.cpp - What a kernel makes a machine do ------------------------------------------------===//

#include "targets/common/Effort.h"

using namespace mlir;

namespace weft {

static bool sumsProducts(const IterationRule &rule) {
  return rule.operandCount() == 2 && !rule.reducedFactors().empty() &&
         rule.combiner() == Combiner::Sum;
}

KernelEffort effortByRules(func::FuncOp specification) {
  SymExpr zero = SymExpr::constant(specification.getContext(), 0);
  KernelEffort effort{zero, zero};
  for (Operation &op : specification.getBody().front())
    if (auto ruled = dyn_cast<RuleOpInterface>(op)) {
      IterationRule rule = ruled.rule();
      SymExpr points = rule.points();
      if (!points)
        continue;
      if (sumsProducts(rule))
        effort.multiplyAdds = effort.multiplyAdds + points;
      else
        effort.operations = effort.operations + points * ruled.scalarCost();
    }
  return effort;
}

} // namespace weft
