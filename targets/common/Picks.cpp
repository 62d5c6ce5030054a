//===- Picks.cpp - Picks as an attribute of a specification -----------------------------------------===//

#include "targets/common/Picks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/KernelChoice.h"

using namespace mlir;

namespace weft {

static constexpr llvm::StringLiteral kSchedule = "schedule";

static DictionaryAttr attributeOf(Operation *op) {
  auto specification = dyn_cast<func::FuncOp>(op);
  if (!specification)
    specification = op->getParentOfType<func::FuncOp>();
  return specification->getAttrOfType<DictionaryAttr>(kPicksAttr);
}

void offer(std::vector<Choice> &list, StringRef name, ArrayRef<int64_t> others, int64_t estimate,
           function_ref<int64_t(int64_t)> effect) {
  Choice choice{name.str(), {estimate}, estimate};
  SmallVector<int64_t> seen{effect(estimate)};
  for (int64_t candidate : others)
    if (int64_t result = effect(candidate); !llvm::is_contained(seen, result)) {
      seen.push_back(result);
      choice.candidates.push_back(candidate);
    }
  if (choice.candidates.size() > 1)
    list.push_back(std::move(choice));
}

int64_t pick(Operation *op, StringRef choice, int64_t estimate) {
  DictionaryAttr picks = attributeOf(op);
  auto value = picks ? picks.getAs<IntegerAttr>(choice) : IntegerAttr();
  return value ? value.getInt() : estimate;
}

Picks picksOf(func::FuncOp specification) {
  Picks picks;
  if (DictionaryAttr attribute = attributeOf(specification))
    for (NamedAttribute each : attribute) {
      if (auto value = dyn_cast<IntegerAttr>(each.getValue()))
        picks.values[each.getName().str()] = value.getInt();
      else if (auto name = dyn_cast<StringAttr>(each.getValue()))
        picks.schedule = name.str();
    }
  return picks;
}

void setPicks(func::FuncOp specification, const Picks &picks) {
  specification->removeAttr(kPicksAttr);
  if (picks.empty())
    return;
  Builder b(specification.getContext());
  SmallVector<NamedAttribute> attributes;
  if (!picks.schedule.empty())
    attributes.push_back(b.getNamedAttr(kSchedule, b.getStringAttr(picks.schedule)));
  for (const auto &[name, value] : picks.values)
    attributes.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  specification->setAttr(kPicksAttr, b.getDictionaryAttr(attributes));
}

} // namespace weft
