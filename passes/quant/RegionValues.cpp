//===- RegionValues.cpp -----------------------------------------------------------------------===//

#include "passes/quant/RegionValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace weft {
namespace {

Operation *regionOf(Value value) { return value.getParentBlock()->getParentOp(); }

unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp())
    ++depth;
  return depth;
}

/// What changes nothing that it is combined with.
Value neutral(ImplicitLocOpBuilder &b, const CombinedValue &of) {
  auto type = cast<SymTensorType>(of.value.getType());
  return b.create<FillOp>(type, combinerIdentity(Combiner(of.kind), type.getElementType()));
}

Operation *endOf(Region &region) { return region.front().getTerminator(); }

/// What a branch computes is a result, too; the other branch gives what changes nothing.
void giveOfBranch(IfOp op, ArrayRef<CombinedValue *> values) {
  SmallVector<Type> types(op.getResultTypes());
  for (CombinedValue *each : values)
    types.push_back(each->value.getType());
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto wider = b.create<IfOp>(types, op.getCondition(), op.getBinds());
  wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       {std::pair(&op.getYes(), &wider.getYes()), {&op.getNo(), &wider.getNo()}}) {
    to->takeBody(*from);
    Operation *end = endOf(*to);
    b.setInsertionPoint(end);
    for (CombinedValue *each : values)
      end->insertOperands(end->getNumOperands(),
                          each->value.getParentRegion() == to ? each->value : neutral(b, *each));
  }
  unsigned own = op->getNumResults();
  op->replaceAllUsesWith(wider->getResults().take_front(own));
  for (auto [each, result] : llvm::zip_equal(values, wider->getResults().drop_front(own)))
    each->value = result;
  op->erase();
}

/// What the body computes is carried on, combined with what it was before.
void giveOfLoop(LoopOp op, ArrayRef<CombinedValue *> values) {
  size_t carried = op.carriedInits().size(), conditions = op.isConditional();
  SmallVector<Value> inits(op.getInits());
  SmallVector<Type> types(op.getResultTypes());
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (auto [i, each] : llvm::enumerate(values)) {
    inits.push_back(neutral(b, *each));
    types.insert(types.begin() + ptrdiff_t(carried + i), each->value.getType());
  }
  auto wider = b.create<LoopOp>(types, op.getIndexAttr(), op.getTrips(), inits, op.getCountAttr());
  wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  wider.getBody().takeBody(op.getBody());
  Block &body = wider.getBody().front();
  Operation *end = body.getTerminator();
  b.setInsertionPoint(end);
  for (auto [i, each] : llvm::enumerate(values)) {
    Value before = body.addArgument(each->value.getType(), each->value.getLoc());
    Value next = combined(b, each->kind, before, each->value);
    end->insertOperands(unsigned(conditions + carried + i), next);
    each->value = wider.getResult(unsigned(carried + i));
  }
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(wider.getResult(unsigned(i < carried ? i : i + values.size())));
  op->erase();
}

} // namespace

bool isOutsideKernels(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<IfOp, LoopOp>(parent))
    parent = parent->getParentOp();
  return isa<func::FuncOp>(parent);
}

SmallVector<Value> ofWholeCall(ArrayRef<CombinedValue> values) {
  SmallVector<CombinedValue> list(values);
  auto innermost = [&] {
    return regionOf(llvm::max_element(list, [](const auto &a, const auto &b) {
                      return depthOf(regionOf(a.value)) < depthOf(regionOf(b.value));
                    })->value);
  };
  while (!list.empty() && !isa<func::FuncOp>(innermost())) {
    Operation *region = innermost();
    SmallVector<CombinedValue *> inside;
    for (CombinedValue &each : list)
      if (regionOf(each.value) == region)
        inside.push_back(&each);
    if (auto branches = dyn_cast<IfOp>(region))
      giveOfBranch(branches, inside);
    else
      giveOfLoop(cast<LoopOp>(region), inside);
  }
  return llvm::map_to_vector(list, [](const CombinedValue &each) { return each.value; });
}

} // namespace weft
