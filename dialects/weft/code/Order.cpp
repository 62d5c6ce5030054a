//===- Order.cpp - Code of arg_reduce, cumulate, top_k ----------------------------------------===//
//
//   arg_reduce: for i: extremum of x[i]; again for i: where x[i] equals it    [arg reduce]
//   cumulate: for i along the axis: carried = combine(carried, x[i]), stored  [cumulate]
//   top_k: the first k positions, or all, as a heap, the worst on top         [heap]
//     for i behind them: in place of the worst, if it is better               [select]
//     for end of the heap, from its last: swapped with the worst              [sort]
//     for i in the heap: value and position stored; then zeros and -1         [store]
//   sift down: while the slot has children: swapped with the worse of them,   [sift]
//     if that is worse; else done
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Order.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

/// One line of a tensor: its indices by position along the axis.
struct Line {
  SmallVector<Value> outer;
  int64_t axis;
  SmallVector<Value> at(Value position) const {
    SmallVector<Value> index(outer);
    index.insert(index.begin() + axis, position);
    return index;
  }
};

Line lineOf(SerialBuilder &s, Value unit, SymTensorType type, int64_t axis) {
  return {s.unflatten(unit, outerDims(type, axis)), axis};
}

} // namespace

//===-- arg_reduce ----------------------------------------------------------------------------===//

/// [arg reduce] First the extremum, then the first or last position of an element that equals it.
Value ArgReduceOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto &b = e.builder();
  auto input = tensorType(getInput());
  Type element = input.getElementType(), i64 = b.getI64Type();
  SymExpr length = input.getDim(getAxis());
  auto at = [&](IndexValue position) {
    SmallVector<IndexValue> from(index);
    from.insert(from.begin() + getAxis(), position);
    return e.operand(0, from);
  };
  Combiner combiner = getKind() == ExtremumKind::Max ? Combiner::Max : Combiner::Min;
  Value none = e.constantData(computeType(element), combinerIdentity(combiner, element));
  Value extremum = e.fold({length}, none, [&](ArrayRef<IndexValue> i, Value best) {
    return emitCombine(b, combiner, element, best, at(i[0]));
  });
  bool last = getSelectLast();
  Value nowhere = e.constantData(i64, last ? TypedAttr(b.getI64IntegerAttr(-1))
                                           : combinerIdentity(Combiner::Min, i64));
  return e.fold({length}, nowhere, [&](ArrayRef<IndexValue> i, Value found) -> Value {
    Value here = e.materialize(i[0]);
    here = emitCombine(b, last ? Combiner::Max : Combiner::Min, i64, found, here);
    return b.create<arith::SelectOp>(isExtremum(b, element, at(i[0]), extremum), here, found);
  });
}

//===-- cumulate ------------------------------------------------------------------------------===//

/// [cumulate] Exclusive ones store what was carried so far, reversed ones begin at the end.
void CumulateOp::emitSerial(SerialBuilder &s, Value unit) {
  auto type = tensorType(getInput());
  Type element = type.getElementType();
  auto &b = s.builder();
  Line line = lineOf(s, unit, type, getAxis());
  Value length = s.symbolic(type.getDim(getAxis()));
  Value last = s.sub(length, s.constant(1));
  Value identity = b.create<arith::ConstantOp>(combinerIdentity(Combiner(getKind()), element));
  s.loop(s.constant(0), length, identity, [&](Value i, ValueRange carried) {
    SmallVector<Value> at = line.at(getReverse() ? s.sub(last, i) : i);
    Value next = emitCombine(b, Combiner(getKind()), element, carried[0], s.load(0, at));
    s.store(0, at, getExclusive() ? carried[0] : next);
    return SmallVector<Value>{next};
  });
}

//===-- top_k ---------------------------------------------------------------------------------===//

namespace {

/// A heap of positions in scratch memory whose root comes last in the order: the k best so far, the
/// worst on top.
class PositionHeap {
public:
  PositionHeap(TopKOp op, SerialBuilder &s, Line line)
      : op(op), s(s), line(std::move(line)), element(elementOf(op.getInput())) {}

  /// Whether the element at position `p` comes after the one at `q`; positions decide between
  /// equals.
  Value isAfter(Value p, Value q) {
    Value x = s.load(0, line.at(p)), y = s.load(0, line.at(q));
    Value after = op.getSmallest() ? isLess(y, x) : isLess(x, y);
    Value before = op.getSmallest() ? isLess(x, y) : isLess(y, x);
    Value later = s.less(q, p),
          no = s.builder().create<arith::ConstantOp>(s.builder().getBoolAttr(false));
    return s.select(after, yes(), s.select(before, no, later));
  }

  /// [sift] Moves the position in `slot` down to where no child comes after it; the heap has `size`
  /// slots.
  void siftDown(Value slot, Value size) {
    auto firstChild = [&](Value i) { return s.add(s.mul(i, s.constant(2)), s.constant(1)); };
    s.repeat(
        slot, [&](Value i) { return s.less(firstChild(i), size); },
        [&](Value i) {
          Value left = firstChild(i), right = s.add(left, s.constant(1));
          right = s.select(s.less(right, size), right, left);
          Value larger = s.select(isAfter(s.scratch(right), s.scratch(left)), right, left);
          Value parent = s.scratch(i), child = s.scratch(larger);
          Value swap = isAfter(child, parent);
          s.setScratch(i, s.select(swap, child, parent));
          s.setScratch(larger, s.select(swap, parent, child));
          return s.select(swap, larger, size); // in place: leave the loop
        });
  }

private:
  Value yes() { return s.builder().create<arith::ConstantOp>(s.builder().getBoolAttr(true)); }

  /// x < y, where nan is larger than all others.
  Value isLess(Value x, Value y) {
    auto &b = s.builder();
    if (!isFloat(element)) {
      auto predicate = isUnsigned(element) ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      return b.create<arith::CmpIOp>(predicate, x, y);
    }
    Value less = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, y);
    Value number = b.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x);
    Value nan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, y, y);
    return b.create<arith::OrIOp>(less, b.create<arith::AndIOp>(number, nan));
  }

  TopKOp op;
  SerialBuilder &s;
  Line line;
  Type element;
};

} // namespace

/// Heap selection: the first k positions become a heap, better ones replace its root, then it is
/// sorted in place.
void TopKOp::emitSerial(SerialBuilder &s, Value unit) {
  auto type = tensorType(getInput());
  auto &b = s.builder();
  Line line = lineOf(s, unit, type, getAxis());
  PositionHeap heap(*this, s, line);
  Value zero = s.constant(0), one = s.constant(1);
  Value k = s.symbolic(getK()[0]), length = s.symbolic(type.getDim(getAxis()));
  Value size = b.create<arith::MinSIOp>(k, length);
  // [heap] From the last slot to the first: what is behind a slot is a heap already.
  s.loop(zero, size, [&](Value i) { s.setScratch(i, i); });
  s.loop(zero, size, [&](Value i) { heap.siftDown(s.sub(s.sub(size, one), i), size); });
  // [select] The worst is in slot 0, if there is one.
  s.when(s.less(zero, size), [&] {
    s.loop(size, length, [&](Value i) {
      s.when(heap.isAfter(s.scratch(zero), i), [&] {
        s.setScratch(zero, i);
        heap.siftDown(zero, size);
      });
    });
  });
  // [sort] The worst goes behind the heap, which is one shorter then.
  s.loop(one, size, [&](Value i) {
    Value end = s.sub(size, i), worst = s.scratch(zero), last = s.scratch(end);
    s.setScratch(end, worst);
    s.setScratch(zero, last);
    heap.siftDown(zero, end);
  });
  // [store] Where k is more than there are elements, the rest is nothing.
  s.loop(zero, size, [&](Value i) {
    Value position = s.scratch(i);
    s.store(0, line.at(i), s.load(0, line.at(position)));
    s.store(1, line.at(i), position);
  });
  Type element = type.getElementType();
  Value nothing = b.create<arith::ConstantOp>(combinerIdentity(Combiner::Sum, element));
  s.loop(size, k, [&](Value i) {
    s.store(0, line.at(i), nothing);
    s.store(1, line.at(i), s.constant(-1));
  });
}

} // namespace weft
