//===- Pool.cpp - Maxima, averages and sums of moving windows ---------------------------------===//
//
// y[.., p, q] = epilogue(max, sum or average over i, j of x[.., p * s + i * d - top, q * t + j * e
// - left]), elements outside left out.
//
//   for plane, vector of columns                          PlaneWindows.h    [planes]
//     averages: in each lane, columns of the window that count are counted  [count columns]
//     for row of the operand: its columns of the window are combined        [columns]
//       for row of the result that it belongs to: combined with the sum     [rows]
//     averages: divided by columns times rows that count                    [divide]
//   channels last: for pixel, vector of channels        ChannelWindows.h    [channels]
//     for element of the window: combined with the sum                      [elements]
//     averages: divided by how many elements count                          [divide all]
//
// A unit is one plane. Columns of the window are combined first, once for all rows of the result
// that a row of x belongs to. With channels last, vectors run along them, and a unit is some tiles
// of pixels.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/window/ChannelWindows.h"
#include "targets/cpu/schedules/window/PlaneWindows.h"

using namespace mlir;

namespace weft {
namespace {

/// The pool, when it is the kernel's only root, of elements in memory, with one or two dimensions
/// of windows.
Match<PoolOp> match(func::FuncOp spec) {
  Match<PoolOp> pool = onlyRoot<PoolOp>(spec, "there is no pooling");
  if (!pool)
    return pool;
  if (!isa<BlockArgument>(pool->getInput()))
    return Decline{"what is pooled is not in memory"};
  if (pool->getKernel().size() > 2)
    return Decline{"the window has more than two dimensions"};
  auto type = cast<SymTensorType>(pool->getResult().getType());
  if (Decline why = unlessResultsHave(type, spec))
    return why;
  unsigned bits = elementBits(type.getElementType());
  Type element = type.getElementType();
  bool fits =
      pool->getChannelsLast() ? bits >= 8 && bits <= 32 : element.isF32() || isHalf(element);
  if (!fits)
    return Decline{"there is no code for its elements"};
  if (pool->getChannelsLast() && type.getRank() != pool->getKernel().size() + 2)
    return Decline{"there is not one dimension of images in front of the window"};
  return pool;
}

/// Rows and columns; `outer` dimensions stand in front of them.
void fillWindows(PoolOp pool, size_t outer, ConvolutionWindow (&window)[2]) {
  auto in = cast<SymTensorType>(pool.getInput().getType()),
       out = cast<SymTensorType>(pool.getResult().getType());
  size_t count = pool.getKernel().size();
  SymExpr zero = SymExpr::constant(pool.getContext(), 0),
          one = SymExpr::constant(pool.getContext(), 1);
  window[0] = {1, 1, 1, zero, zero, one, one};
  for (size_t d = 0; d < count; ++d)
    window[d + 2 - count] = {pool.getKernel()[d],  pool.getStrides()[d], pool.getDilations()[d],
                             pool.getLow()[d],     pool.getHigh()[d],    in.getDim(outer + d),
                             out.getDim(outer + d)};
}

PlaneWindows planesOf(PoolOp pool) {
  auto in = cast<SymTensorType>(pool.getInput().getType());
  size_t count = pool.getKernel().size(), outer = in.getRank() - count;
  PlaneWindows w{
      pool.getResult(), cast<BlockArgument>(pool.getInput()).getArgNumber(), {}, count == 1, {}};
  SmallVector<SymExpr> dims = in.getDims();
  w.outer.append(dims.begin(), dims.begin() + outer);
  fillWindows(pool, outer, w.window);
  return w;
}

ChannelWindows channelsOf(PoolOp pool) {
  ChannelWindows w{pool.getResult(),
                   cast<BlockArgument>(pool.getInput()),
                   pool.getKernel().size() == 1,
                   {},
                   false};
  fillWindows(pool, 1, w.window);
  return w;
}

Combiner combinerOf(PoolOp pool) {
  return pool.getKind() == PoolKind::Max ? Combiner::Max : Combiner::Sum;
}

/// Where counted elements begin, from the first of the operand, and how many there are.
std::pair<Value, Value> counted(KernelContext &c, PoolOp pool, const ConvolutionWindow &w) {
  if (!pool.getCountPadding())
    return {constantI64(c.b, 0), c.e.uniform(w.in)};
  return {c.e.uniform(SymExpr::constant(c.b.getContext(), 0) - w.low),
          c.e.uniform(w.in + w.low + w.high)};
}

/// How many counted elements the window at `position` of the result has along one dimension.
Value countAt(KernelContext &c, PoolOp pool, const ConvolutionWindow &w, Value position) {
  auto [from, size] = counted(c, pool, w);
  Value start = c.mul(position, constantI64(c.b, w.stride)), count = constantI64(c.b, 0);
  Value first = c.sub(c.sub(start, c.e.uniform(w.low)), from);
  for (int64_t i = 0; i < w.kernel; ++i) {
    Value here = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                           c.add(first, constantI64(c.b, i * w.dilation)), size);
    count = c.add(count, c.b.create<arith::ExtUIOp>(c.b.getI64Type(), here));
  }
  return count;
}

/// An integer as float in all lanes.
Value inAllLanes(KernelContext &c, Type type, Value count) {
  auto vector = cast<VectorType>(type);
  return c.b.create<vector::SplatOp>(c.b.create<arith::SIToFPOp>(vector.getElementType(), count),
                                     vector);
}

/// [planes] Says what becomes of the elements; the loops are PlaneEmitter's.
class PoolEmitter : public PlaneEmitter {
public:
  PoolEmitter(KernelContext &c, PoolOp pool) : PlaneEmitter(c, planesOf(pool)), pool(pool) {}

private:
  Value combine(Value a, Value d) {
    return emitCombine(c.b, combinerOf(pool), c.b.getF32Type(), a, d);
  }
  Value identity() override {
    return c.e.constantData(c.b.getF32Type(), combinerIdentity(combinerOf(pool), c.b.getF32Type()));
  }

  /// [columns] One vector remains of a row.
  SmallVector<Value> prepare(SmallVector<Value> taps) override {
    Value all = taps[0];
    for (Value tap : ArrayRef(taps).drop_front())
      all = combine(all, tap);
    return {all};
  }
  /// [rows] The same for all rows of the window.
  Value add(Value sum, ArrayRef<Value> prepared, int64_t) override {
    return combine(sum, prepared[0]);
  }

  /// [count columns] The same for all rows.
  void startColumns(Value first) override {
    if (pool.getKind() != PoolKind::Average)
      return;
    auto [from, size] = counted(c, pool, columns);
    Value one = c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(1)),
          zero = c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0));
    countInRow = zero;
    for (int64_t j = 0; j < columns.kernel; ++j) {
      Value here =
          inside(c.sub(c.add(first, number(j * columns.dilation)), from), columns.stride, size);
      countInRow =
          c.b.create<arith::AddFOp>(countInRow, c.b.create<arith::SelectOp>(here, one, zero));
    }
  }

  /// [divide] Rows are counted for all lanes at once.
  Value finish(Value sum, Value row) override {
    if (pool.getKind() != PoolKind::Average)
      return sum;
    Value all = inAllLanes(c, vectorType(), countAt(c, pool, rows, row));
    return c.b.create<arith::DivFOp>(sum, c.b.create<arith::MulFOp>(all, countInRow));
  }

  PoolOp pool;
  Value countInRow; ///< by lane
};

/// [channels] Says what becomes of the elements; the loops are ChannelEmitter's.
class ChannelPoolEmitter : public ChannelEmitter {
public:
  ChannelPoolEmitter(KernelContext &c, PoolOp pool)
      : ChannelEmitter(c, channelsOf(pool)), pool(pool) {}

private:
  TypedAttr identity() override {
    return combinerIdentity(combinerOf(pool), s.type().getElementType());
  }
  /// [elements] Those outside are neutral.
  Value add(KernelContext &c, Value sum, Value x, Value) override {
    return emitCombine(c.b, combinerOf(pool), s.type().getElementType(), sum, x);
  }
  /// [divide all] The number is the same for all channels.
  Value finish(KernelContext &c, Value sum, Value row, Value column) override {
    if (pool.getKind() != PoolKind::Average)
      return sum;
    Value count = c.mul(countAt(c, pool, rows, row), countAt(c, pool, columns, column));
    return c.b.create<arith::DivFOp>(sum, inAllLanes(c, sum.getType(), count));
  }

  PoolOp pool;
};

class PoolSchedule : public Schedule {
public:
  StringRef name() const override { return "pool"; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    Match<PoolOp> pool = match(spec);
    return pool && !pool->getChannelsLast() ? planesOf(*pool).decline() : pool.decline();
  }
  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    PoolOp pool = *match(spec);
    return pool.getChannelsLast() ? channelsOf(pool).launch(machine) : planesOf(pool).launch();
  }
  void emit(KernelContext &c) const override {
    PoolOp pool = *match(c.spec);
    if (pool.getChannelsLast())
      ChannelPoolEmitter(c, pool).emit();
    else
      PoolEmitter(c, pool).emit();
  }
};

} // namespace

const Schedule *poolSchedule() {
  static const PoolSchedule schedule;
  return &schedule;
}

} // namespace weft
