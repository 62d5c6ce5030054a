//===- QuantisedViews.cpp - Quantisation around what only moves elements ----------------------------===//
#include "passes/quant/QuantisedViews.h"
#include "dialects/weft/ops/Quantize.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

bool sumsIntegers(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return contract.getAccumulate().isInteger(32);
  auto conv = dyn_cast<ConvOp>(op);
  return conv && conv.getAccumulate().isInteger(32);
}

} // namespace

bool isQuantised(func::FuncOp function) {
  auto found = function.walk([](Operation *op) {
    bool is = isa<QuantizeOp, DequantizeOp>(op) || sumsIntegers(op);
    return is ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool isOne(Value value) { return typeOf(value).getElements().isConstant(1); }

bool hasOneScale(DequantizeOp op) { return isOne(op.getScale()) && isOne(op.getZero()); }

bool isElementwise(Operation *op) {
  auto element = dyn_cast_or_null<ElementOpInterface>(op);
  if (!element || op->getNumResults() != 1 || op->getNumOperands() == 0 || isa<DequantizeOp>(op) ||
      element.rootKind() != RootKind::Loop)
    return false;
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule ||
      typeOf(op->getResult(0)).getDimAttributes() != typeOf(op->getOperand(0)).getDimAttributes())
    return false;
  return rule.rule().isPointwise() &&
         llvm::all_of(op->getOperands().drop_front(), [](Value v) { return isOne(v); });
}

Operation *makerBehindViews(Value value) {
  Operation *op = value.getDefiningOp();
  for (auto element = dyn_cast_or_null<ElementOpInterface>(op);
       element && element.rootKind() == RootKind::View && op->getNumOperands() == 1;
       element = dyn_cast_or_null<ElementOpInterface>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

Value scalar(ImplicitLocOpBuilder &b, Value one) {
  if (typeOf(one).getRank() == 0)
    return one;
  DimsAttr none = DimsAttr::get(b.getContext(), ArrayRef<SymExpr>());
  return b.create<ReshapeOp>(
      SymTensorType::get(b.getContext(), none.getDimAttributes(), typeOf(one).getElementType()),
      one, none);
}

Value viewOf(ImplicitLocOpBuilder &b, Operation *view, Value of) {
  Operation *clone = b.clone(*view);
  clone->setOperand(0, of);
  clone->getResult(0).setType(typeOf(view->getResult(0)).withElement(typeOf(of).getElementType()));
  return clone->getResult(0);
}

Value movedBeforeViews(ImplicitLocOpBuilder &b, Operation *op,
                       llvm::function_ref<bool(Operation *)> passes) {
  SmallVector<Operation *> views;
  Value x = op->getOperand(0);
  while (x.getDefiningOp() && passes(x.getDefiningOp()) && x.hasOneUse()) {
    views.push_back(x.getDefiningOp());
    x = views.back()->getOperand(0);
  }
  if (views.empty() || isa<BlockArgument>(x))
    return {};
  SmallVector<Value> operands{x};
  for (Value number : op->getOperands().drop_front())
    operands.push_back(scalar(b, number));
  Operation *clone = b.clone(*op);
  clone->setOperands(operands);
  clone->getResult(0).setType(typeOf(x).withElement(typeOf(op->getResult(0)).getElementType()));
  Value moved = clone->getResult(0);
  for (Operation *view : llvm::reverse(views))
    moved = viewOf(b, view, moved);
  return moved;
}

void replaceBy(Operation *op, Value by) {
  op->getResult(0).replaceAllUsesWith(by);
  op->erase();
}

void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && isa<ElementOpInterface>(op) && isPure(&op))
      op.erase(); // otherwise what it reads has another use
}

} // namespace weft
