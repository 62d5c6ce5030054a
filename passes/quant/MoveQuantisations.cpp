//===- MoveQuantisations.cpp - Few bytes are stored where elements only move ------------------------===//
//
// Dequantisation goes behind views (reshape, transpose, …), behind what ranks give each other and behind maxima, quantisation before them, and
// quantising what was just dequantised with the same parameters is nothing.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Resize.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include "passes/quant/QuantisedViews.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_MOVEQUANTISATIONS
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Whether no window of a pool lies outside its operand.
bool allReachInside(PoolOp pool) {
  bool inside = true;
  for (auto [kernel, low, high] :
       llvm::zip(pool.getKernel(), pool.getLow().getDims(), pool.getHigh().getDims()))
    inside &=
        low.asConstant().value_or(kernel) < kernel && high.asConstant().value_or(kernel) < kernel;
  return inside;
}

class Mover {
public:
  Mover(func::FuncOp function, WeightReader weight)
      : b(function.getLoc(), function.getContext()), constants(std::move(weight)) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          run(inner);
      b.setInsertionPoint(&op);
      b.setLoc(op.getLoc());
      if (auto exchange = dyn_cast<CollectiveOpInterface>(op))
        moveBehindExchange(exchange);
      else if (auto concat = dyn_cast<ConcatOp>(op))
        moveBehindConcat(concat);
      else if (movesElements(&op))
        moveBehindView(&op);
      else if (isElementwise(&op))
        moveBeforeViews(&op);
      else if (auto pool = dyn_cast<PoolOp>(op))
        moveBehindMaximum(pool);
    }
    eraseUnused(block);
    constants.forget();
  }

private:
  /// The operation's result is `integers`, restored as `like` does.
  void replaceByRestored(Operation *op, Value integers, DequantizeOp like) {
    replaceBy(op, b.create<DequantizeOp>(op->getResult(0).getType(), integers,
                                         scalar(b, like.getScale()), scalar(b, like.getZero())));
  }

  /// view(dequantize(x)) is dequantize(view(x)).
  void moveBehindView(Operation *view) {
    auto dequantize = view->getOperand(0).getDefiningOp<DequantizeOp>();
    if (dequantize && hasOneScale(dequantize))
      replaceByRestored(view, viewOf(b, view, dequantize.getInput()), dequantize);
  }

  /// Bytes that stand for the same reals are one tensor of bytes.
  void moveBehindConcat(ConcatOp concat) {
    SmallVector<Value> integers;
    DequantizeOp first;
    for (Value input : concat.getInputs()) {
      auto part = input.getDefiningOp<DequantizeOp>();
      if (!part || !isByte(part.getInput()) || !hasOneScale(part))
        return;
      if (!first)
        first = part;
      if (typeOf(part.getInput()).getElementType() != typeOf(first.getInput()).getElementType() ||
          !constants.areEqual(part.getScale(), first.getScale()) ||
          !constants.areEqual(part.getZero(), first.getZero()))
        return;
      integers.push_back(part.getInput());
    }
    Value whole = b.create<ConcatOp>(
        typeOf(concat.getResult()).withElement(typeOf(first.getInput()).getElementType()), integers,
        concat.getDim());
    replaceByRestored(concat, whole, first);
  }

  /// What ranks give each other of dequantised integers is given as integers.
  void moveBehindExchange(CollectiveOpInterface exchange) {
    auto dequantize = exchange->getOperand(0).getDefiningOp<DequantizeOp>();
    if (!exchange.getForm().combiner && dequantize && hasOneScale(dequantize) &&
        !isPacked(typeOf(dequantize.getInput()).getElementType()) &&
        constants.find(dequantize.getScale()) && constants.find(dequantize.getZero()))
      moveBehindView(exchange);
  }

  bool isPositive(Value scale) {
    const RefTensor *number = constants.find(scale);
    return number && number->reals[0] > 0;
  }

  /// Whether a function of the operation's elements may be computed before it. Quantising keeps the order of reals, so the largest one
  /// becomes the largest integer.
  bool canFollow(Operation *op, QuantizeOp quantize) {
    auto pool = dyn_cast_or_null<PoolOp>(op);
    return movesElements(op) || (quantize && pool && pool.getKind() == PoolKind::Max &&
                                 allReachInside(pool) && isPositive(quantize.getScale()));
  }

  /// The largest of dequantised integers is the largest integer, dequantised, when no window lies outside and the scale is positive.
  void moveBehindMaximum(PoolOp pool) {
    auto dequantize = pool.getInput().getDefiningOp<DequantizeOp>();
    if (pool.getKind() != PoolKind::Max || !dequantize || !hasOneScale(dequantize))
      return;
    if (!allReachInside(pool) || !isPositive(dequantize.getScale()))
      return;
    Operation *clone = b.clone(*pool);
    clone->setOperand(0, dequantize.getInput());
    clone->getResult(0).setType(
        typeOf(pool.getResult()).withElement(typeOf(dequantize.getInput()).getElementType()));
    replaceByRestored(pool, clone->getResult(0), dequantize);
  }

  /// Whether nobody else reads what a value is views of: a function of it may then belong to what computes it. Of one of several parts it
  /// would be computed of all.
  static bool isAlone(Value value) {
    while (value.hasOneUse() && value.getDefiningOp() && movesElements(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value.hasOneUse();
  }

  /// f(view(x)) is view(f(x)), and what is quantised passes maxima, too.
  void moveBeforeViews(Operation *op) {
    auto quantize = dyn_cast<QuantizeOp>(op);
    auto dequantize = op->getOperand(0).getDefiningOp<DequantizeOp>();
    if (quantize && dequantize && dequantize.getInput().getType() == quantize.getType() &&
        constants.areEqual(dequantize.getScale(), quantize.getScale()) &&
        constants.areEqual(dequantize.getZero(), quantize.getZero()))
      return replaceBy(op, dequantize.getInput());
    if (!quantize && !isAlone(op->getOperand(0)))
      return;
    auto passes = [&](Operation *view) { return canFollow(view, quantize); };
    if (Value moved = movedBeforeViews(b, op, passes))
      replaceBy(op, moved);
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants;
};

struct MoveQuantisationsPass : impl::MoveQuantisationsBase<MoveQuantisationsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && isQuantised(getOperation()))
      Mover(getOperation(), weight).run(getOperation().getBody().front());
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createMoveQuantisations(WeightReader weight) {
  auto pass = std::make_unique<MoveQuantisationsPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
