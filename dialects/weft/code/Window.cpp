//===- Window.cpp - Code of conv, conv_transpose, pool, pool_index ----------------------------===//
//
// Code of one element of the result. Convolutions and pools follow their iteration rules; what they
// do not say:
//
//   conv: x * w of an element and its weight, widened                       [product]
//   conv_transpose: for channel of the group, tap: sum += x * w             [gather]
//     where the stride divides the place, and x has it
//   pool, averages: the sum by the rule, divided by the number of elements  [average]
//     for dimension, tap: count += the place is inside                      [count]
//   pool_index: for element of the window: the largest                      [largest]
//     again: the least position of one that equals it                       [position]
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Window.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

//===-- What conv and conv_transpose share ----------------------------------------------------===//

namespace {

/// [product] In the type of the sum.
template <typename Op> Value emitProduct(Op op, ImplicitLocOpBuilder &b, Value x, Value y) {
  Type accumulate = op.getAccumulate();
  x = widen(b, x, elementOf(op.getInput()), accumulate);
  y = widen(b, y, elementOf(op.getFilter()), accumulate);
  return isFloat(accumulate) ? Value(b.create<arith::MulFOp>(x, y)) : b.create<arith::MulIOp>(x, y);
}

} // namespace

//===-- conv ----------------------------------------------------------------------------------===//

Value ConvOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  return emitProduct(*this, b, e[0], e[1]);
}

//===-- conv_transpose ------------------------------------------------------------------------===//

/// [gather] The operand elements whose windows cover the result element are those with s*p == i +
/// low - d*x for some x.
Value ConvTransposeOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput()), filter = tensorType(getFilter());
  auto &b = e.builder();
  SmallVector<Window> windows = windowsOf(*this);
  SymExpr channels = SymExpr::floordiv(input.getDim(1), int64_t(getGroups()));
  auto [group, o] = getGroups() == 1 ? std::pair(e.constant(0), index[1])
                                     : e.divmod(index[1], e.symbolic(filter.getDim(1)));
  IndexValue firstChannel = e.mul(group, e.symbolic(channels)), filterChannel = o;
  SmallVector<SymExpr> extents{channels};
  llvm::append_range(extents, ArrayRef(filter.getDims()).drop_front(2));
  return e.fold(extents, zeroOf(e, getAccumulate()), [&](ArrayRef<IndexValue> at, Value sum) {
    IndexValue channel = e.add(firstChannel, at[0]);
    SmallVector<IndexValue> from{index[0], channel}, tap{channel, filterChannel};
    Value inside;
    for (auto [d, w] : llvm::enumerate(windows)) {
      tap.push_back(at[d + 1]);
      IndexValue back = e.mul(e.constant(w.dilation), at[d + 1]);
      IndexValue scaled = e.sub(e.add(index[d + 2], e.symbolic(w.low)), back);
      auto [p, rest] =
          e.divmod(scaled, e.constant(w.stride)); // of a negative number: excluded below
      from.push_back(p);
      Value here = isInside(e, inside, p, input.getDim(d + 2));
      if (w.stride != 1) {
        Value whole = b.create<arith::AndIOp>(e.nonNegative(scaled), e.equal(rest, e.constant(0)));
        here = b.create<arith::AndIOp>(here, whole);
      }
      inside = here;
    }
    auto add = [&] {
      Value product = emitProduct(*this, b, e.operand(0, from), e.operand(1, tap));
      return emitCombine(b, Combiner::Sum, getAccumulate(), sum, product);
    };
    return e.guarded(inside, add, sum);
  });
}

//===-- pool, pool_index ----------------------------------------------------------------------===//

/// [count] How many elements of the window at result position `p` lie in [from, to).
static Value countInside(ElementBuilder &e, const Window &w, int64_t kernel, IndexValue p,
                         SymExpr from, SymExpr to) {
  auto &b = e.builder();
  Type type = e.laneType(b.getI64Type());
  IndexValue first = e.mul(e.constant(w.stride), p);
  IndexValue origin = e.sub(first, e.symbolic(w.low + from));
  Value none = e.constantData(b.getI64Type(), b.getI64IntegerAttr(0));
  SymExpr extent = SymExpr::constant(b.getContext(), kernel);
  return e.fold({extent}, none, [&](ArrayRef<IndexValue> x, Value count) -> Value {
    Value inside = isInside(e, {}, e.add(origin, e.mul(e.constant(w.dilation), x[0])), to - from);
    return b.create<arith::AddIOp>(count, b.create<arith::ExtUIOp>(type, inside));
  });
}

/// [average] Numbers of all dimensions are multiplied.
Value PoolOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Value total = emitElementByRule(*this, e, index);
  if (getKind() != PoolKind::Average)
    return total;
  auto &b = e.builder();
  auto input = tensorType(getInput());
  size_t outer = input.getRank() - getKernel().size() - getChannelsLast();
  Value count = e.constantData(b.getI64Type(), b.getI64IntegerAttr(1));
  for (auto [d, w] : llvm::enumerate(windowsOf(*this))) {
    SymExpr from = SymExpr::constant(getContext(), 0), to = input.getDim(outer + d);
    if (getCountPadding())
      from = from - w.low, to = to + w.high;
    Value here = countInside(e, w, getKernel()[d], index[outer + d], from, to);
    count = b.create<arith::MulIOp>(count, here);
  }
  return b.create<arith::DivFOp>(total, b.create<arith::SIToFPOp>(total.getType(), count));
}

namespace {

/// Folds a function of the elements of a window that lie inside the operand, and of their
/// positions.
class WindowWalk {
public:
  using Body = llvm::function_ref<Value(Value element, IndexValue position, Value carried)>;
  WindowWalk(PoolIndexOp op, ElementBuilder &e, ArrayRef<IndexValue> index)
      : op(op), e(e), index(index), windows(windowsOf(op)), input(tensorType(op.getInput())) {}

  Value fold(Value init, Body body) {
    SmallVector<SymExpr> extents;
    for (int64_t size : op.getKernel())
      extents.push_back(SymExpr::constant(op.getContext(), size));
    return e.fold(extents, init, [&](ArrayRef<IndexValue> x, Value carried) {
      size_t outer = input.getRank() - windows.size();
      SmallVector<IndexValue> from(index.take_front(outer));
      IndexValue position = e.constant(0);
      Value inside;
      for (auto [d, w] : llvm::enumerate(windows)) {
        SymExpr size = input.getDim(outer + d);
        IndexValue start = e.sub(e.mul(e.constant(w.stride), index[outer + d]), e.symbolic(w.low));
        from.push_back(e.add(start, e.mul(e.constant(w.dilation), x[d])));
        position = e.add(e.mul(position, e.symbolic(size)), from.back());
        inside = isInside(e, inside, from.back(), size);
      }
      auto here = [&] { return body(e.operand(0, from), position, carried); };
      return e.guarded(inside, here, carried);
    });
  }

private:
  PoolIndexOp op;
  ElementBuilder &e;
  ArrayRef<IndexValue> index;
  SmallVector<Window> windows;
  SymTensorType input;
};

} // namespace

/// First the maximum, then the least position of an element that equals it (or is nan, when it is).
Value PoolIndexOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Type element = elementOf(getInput()), i64 = e.builder().getI64Type();
  auto &b = e.builder();
  WindowWalk walk(*this, e, index);
  Value least = e.constantData(computeType(element), combinerIdentity(Combiner::Max, element));
  // [largest] Elements outside are left out.
  Value largest = walk.fold(least, [&](Value x, IndexValue, Value most) {
    return emitCombine(b, Combiner::Max, element, most, x);
  });
  // [position] Row by row: of several, the first counts.
  Value none = e.constantData(i64, combinerIdentity(Combiner::Min, i64));
  return walk.fold(none, [&](Value x, IndexValue position, Value first) -> Value {
    Value at = b.create<arith::MinSIOp>(first, e.materialize(position));
    return b.create<arith::SelectOp>(isExtremum(b, element, x, largest), at, first);
  });
}

} // namespace weft
