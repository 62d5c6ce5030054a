//===- CollapseReductions.cpp - Merge dimensions that a kernel reduces together ------------------------===//
//
//   before   kernel on [n, c, h, w], which reduces [2, 3]      after   kernel on [n, c, h*w], which reduces [2]
//
// What is combined is one run of memory then: its place in the operand takes no division, and runs are as long as they can be. Applies to neighbouring
// dimensions that every value in front of the reduction has, or is repeated along; operators there have rules that start with `...`.
//===------------------------------------------------------------------------------------------===//

#include "passes/kernel/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_COLLAPSEREDUCTIONS
#include "passes/kernel/Passes.h.inc"

namespace {

SymTensorType tensor(Value value) { return cast<SymTensorType>(value.getType()); }

/// Whether elements are computed from those at the same place, however dimensions are cut.
bool isPointwise(Operation *op) {
  auto ruled = dyn_cast<RuleOpInterface>(op);
  if (!ruled)
    return false;
  IterationRule rule = ruled.rule();
  for (unsigned i = 0; i < rule.operandCount(); ++i)
    if (!rule.hasEllipsis(i))
      return false;
  std::optional<unsigned> tail = rule.namedTail();
  return tail && *tail == 0;
}

class ReductionCollapser {
public:
  ReductionCollapser(KernelOp kernel, ReduceOp reduce)
      : kernel(kernel), reduce(reduce), space(tensor(reduce.getInput()).getDims()) {}

  void run() {
    if (!findValues())
      return;
    SmallVector<int64_t> axes(reduce.getAxes());
    for (size_t i = axes.size() - 1; i-- > 0;) // from the right: places in front stay
      if (axes[i] + 1 == axes[i + 1] && areAlike(unsigned(axes[i]))) {
        merge(unsigned(axes[i]));
        axes.erase(axes.begin() + int64_t(i) + 1);
        for (int64_t &behind : MutableArrayRef(axes).drop_front(i + 1))
          --behind;
        isChanged = true;
      }
    if (!isChanged)
      return;
    reduce.setAxes(axes);
    for (auto [operand, argument] :
         llvm::zip_equal(kernel->getOpOperands(), kernel.getBody().front().getArguments()))
      reshapeFor(operand, argument);
  }

private:
  /// In front of the reduction; nobody behind it reads them.
  bool findValues() {
    values.insert(reduce.getInput());
    for (size_t i = 0; i < values.size(); ++i) {
      Operation *op = values[i].getDefiningOp();
      if (op && op->getNumOperands() > 0 && !isPointwise(op))
        return false;
      if (op && op->getNumOperands() == 0 && tensor(values[i]).getRank() > 0)
        return false;
      if (op)
        values.insert(op->operand_begin(), op->operand_end());
    }
    return llvm::all_of(values, [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) {
        return user == reduce ||
               (user->getNumResults() == 1 && values.contains(user->getResult(0)));
      });
    });
  }

  /// A value's dimension where the space has number `d`; fewer are aligned to the right.
  std::optional<unsigned> placeOf(Value value, unsigned d) const {
    unsigned missing = unsigned(space.size()) - tensor(value).getRank();
    return d < missing ? std::nullopt : std::optional(d - missing);
  }
  SymExpr dimAt(Value value, unsigned d) const {
    std::optional<unsigned> place = placeOf(value, d);
    return place ? tensor(value).getDim(*place) : SymExpr::constant(space[0].getContext(), 1);
  }

  /// Along dimension `d` of the space and the next one.
  bool areAlike(unsigned d) const {
    return llvm::all_of(values, [&](Value value) {
      SymExpr first = dimAt(value, d), second = dimAt(value, d + 1);
      return (first == space[d] && second == space[d + 1]) ||
             (first.isConstant(1) && second.isConstant(1));
    });
  }

  void merge(unsigned d) {
    for (Value value : values) {
      std::optional<unsigned> first = placeOf(value, d), second = placeOf(value, d + 1);
      SmallVector<SymExpr> dims = tensor(value).getDims();
      if (first)
        dims[*first] = dims[*first] * dims[*second];
      if (second)
        dims.erase(dims.begin() + (first ? *second : 0));
      MLIRContext *context = kernel.getContext();
      value.setType(SymTensorType::get(context, DimsAttr::get(context, dims).getDimAttributes(),
                                       tensor(value).getElementType()));
    }
    space[d] = space[d] * space[d + 1];
    space.erase(space.begin() + d + 1);
  }

  void reshapeFor(OpOperand &operand, BlockArgument argument) {
    if (operand.get().getType() == argument.getType())
      return;
    OpBuilder b(kernel);
    SymTensorType type = tensor(argument);
    operand.set(b.create<ReshapeOp>(kernel.getLoc(), type, operand.get(),
                                    DimsAttr::get(b.getContext(), type.getDims())));
  }

  KernelOp kernel;
  ReduceOp reduce;
  SmallVector<SymExpr> space; ///< what is reduced
  SetVector<Value> values;
  bool isChanged = false;
};

struct CollapseReductionsPass : impl::CollapseReductionsBase<CollapseReductionsPass> {
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp reduce) {
      if (isa<KernelOp>(reduce->getParentOp()) && reduce.getAxes().size() > 1)
        reductions.push_back(reduce);
    });
    for (ReduceOp reduce : reductions)
      ReductionCollapser(cast<KernelOp>(reduce->getParentOp()), reduce).run();
  }
};

} // namespace
} // namespace weft
