//===- NamedPlans.cpp -----------------------------------------------------------------------------===//

#include "passes/parallel/NamedPlans.h"

using namespace mlir;

namespace weft {
namespace {

constexpr StringRef kNames[] = {"tp", "sp", "dp", "fsdp", "2d", "3d"};

/// The option of a kind, when there is one.
int optionOf(const PlanVariable &variable, WeightDim kind) {
  auto found = llvm::find_if(variable.options, [&](const PlanVariable::Option &each) {
    return each.kind == kind && !each.isGathered;
  });
  return found == variable.options.end() ? kOpen : int(found - variable.options.begin());
}

class NamedPlan {
public:
  explicit NamedPlan(PlanSpace &space) : space(space), choice(space.nothing()) {}

  /// What nothing cuts yet is cut by outputs; what reads that is then cut by what it sums.
  void pairs(unsigned axis) {
    for (auto [i, variable] : llvm::enumerate(space.variables()))
      if (int option = optionOf(variable, WeightDim::Outputs);
          !variable.isInputs() && option != kOpen && !space.isCut(choice, i, axis))
        choice[space.at(i, axis)] = option;
  }

  void weights(unsigned axis, WeightDim kind) {
    for (auto [i, variable] : llvm::enumerate(space.variables()))
      if (!variable.isInputs())
        choice[space.at(i, axis)] = optionOf(variable, kind);
  }

  void gathered(unsigned axis) {
    for (auto [i, variable] : llvm::enumerate(space.variables()))
      for (auto [o, option] : llvm::enumerate(variable.options))
        if (option.isGathered)
          choice[space.at(i, axis)] = int(o);
  }

  /// By the first size of the first input that has several, or by the second.
  void inputs(unsigned axis, unsigned number) {
    for (auto [i, variable] : llvm::enumerate(space.variables()))
      if (variable.isInputs())
        choice[space.at(i, axis)] = inputOption(variable, number);
  }

  PlanSpace &space;
  PlanChoice choice;

private:
  static int inputOption(const PlanVariable &variable, unsigned number) {
    for (const PlanVariable::Member &input : variable.members) {
      auto type = cast<SymTensorType>(input.value.getType());
      if (type.getRank() < 2)
        continue;
      for (auto [o, option] : llvm::enumerate(variable.options))
        if (option.size == type.getDim(number))
          return int(o);
      return kOpen;
    }
    return number == 0 && !variable.options.empty() ? 0 : kOpen;
  }
};

/// The most square one of so many axes, the longest axis last.
SmallVector<int64_t> gridOf(int64_t ranks, unsigned axes) {
  if (axes == 1)
    return {ranks};
  int64_t side = 1;
  for (int64_t size = 1; size <= ranks; ++size) {
    int64_t power = 1;
    for (unsigned i = 0; i < axes && power <= ranks; ++i)
      power *= size;
    if (power > ranks)
      break;
    if (ranks % size == 0)
      side = size;
  }
  SmallVector<int64_t> grid{side};
  llvm::append_range(grid, gridOf(ranks / side, axes - 1));
  return grid;
}

} // namespace

ArrayRef<StringRef> planNames() { return kNames; }

std::vector<StringRef> planNames(unsigned axes) {
  if (axes == 1)
    return {"tp", "sp", "dp", "fsdp"};
  if (axes == 2)
    return {"dp+tp", "dp+sp", "2d"};
  return axes == 3 ? std::vector<StringRef>{"3d"} : std::vector<StringRef>();
}

unsigned axesOfPlan(StringRef name) {
  for (unsigned axes = 1; axes <= 3; ++axes)
    if (llvm::is_contained(planNames(axes), name))
      return axes;
  return 0;
}

MeshAttr meshOfPlan(MLIRContext *context, StringRef name, int64_t ranks) {
  unsigned count = axesOfPlan(name);
  bool isBatch = name == "dp" || name == "fsdp";
  SmallVector<StringRef> axes = isBatch        ? SmallVector<StringRef>{"dp"}
                                : count == 1   ? SmallVector<StringRef>{"tp"}
                                : name == "2d" ? SmallVector<StringRef>{"r", "c"}
                                : count == 2   ? SmallVector<StringRef>{"dp", "tp"}
                                               : SmallVector<StringRef>{"i", "j", "l"};
  SmallVector<StringAttr> names =
      llvm::map_to_vector(axes, [&](StringRef axis) { return StringAttr::get(context, axis); });
  return MeshAttr::get(context, names, gridOf(ranks, count));
}

PlanChoice namedPlan(PlanSpace &space, StringRef name) {
  NamedPlan plan(space);
  if (name == "fsdp")
    plan.gathered(0);
  if (name == "dp" || name == "fsdp" || name == "dp+tp" || name == "dp+sp" || name == "3d")
    plan.inputs(0, 0);
  if (name == "sp" || name == "dp+sp")
    plan.inputs(space.axes() - 1, 1);
  if (name == "tp" || name == "sp" || name == "dp+tp" || name == "dp+sp")
    plan.pairs(space.axes() - 1);
  if (name == "2d" || name == "3d") {
    plan.weights(space.axes() - 2, WeightDim::Sums);
    plan.weights(space.axes() - 1, WeightDim::Outputs);
  }
  return plan.choice;
}

} // namespace weft
