//===- Pool.cpp - Maxima, averages and sums of moving windows ----------------------------------------------===//
//
// y[.., p, q] = epilogue(max, sum or average over i, j of x[.., p * s + i * d - top, q * t + j * e - left]), elements outside left out.
// A unit is one plane. Columns of the window are combined first, once for all rows of the result that a row of x belongs to.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/PlaneWindows.h"

using namespace mlir;

namespace weft {
namespace {

/// The pool, when it is the kernel's only root, of f32 in memory, with one or two dimensions of windows.
PoolOp match(func::FuncOp spec) {
  PoolOp pool;
  for (Operation &each : spec.getBody().front()) {
    auto element = dyn_cast<ElementOpInterface>(each);
    auto here = dyn_cast<PoolOp>(each);
    if (here ? pool != PoolOp()
             : element && element.rootKind() != RootKind::Loop &&
                   element.rootKind() != RootKind::View)
      return {};
    if (here)
      pool = here;
  }
  if (!pool || pool.getChannelsLast() || !isa<BlockArgument>(pool.getInput()) ||
      pool.getKernel().size() > 2)
    return {};
  auto type = cast<SymTensorType>(pool.getResult().getType());
  for (Type result : spec.getResultTypes())
    if (cast<SymTensorType>(result).getDimAttributes() != type.getDimAttributes())
      return {};
  return type.getElementType().isF32() ? pool : PoolOp();
}

PlaneWindows windowsOf(PoolOp pool) {
  auto in = cast<SymTensorType>(pool.getInput().getType()),
       out = cast<SymTensorType>(pool.getResult().getType());
  size_t count = pool.getKernel().size(), outer = in.getRank() - count;
  SymExpr zero = SymExpr::constant(pool.getContext(), 0),
          one = SymExpr::constant(pool.getContext(), 1);
  PlaneWindows w{
      pool.getResult(), cast<BlockArgument>(pool.getInput()).getArgNumber(), {}, count == 1, {}};
  SmallVector<SymExpr> dims = in.getDims();
  w.outer.append(dims.begin(), dims.begin() + outer);
  w.window[0] = {1, 1, 1, zero, zero, one, one};
  for (size_t d = 0; d < count; ++d)
    w.window[d + 2 - count] = {pool.getKernel()[d],  pool.getStrides()[d], pool.getDilations()[d],
                               pool.getLow()[d],     pool.getHigh()[d],    in.getDim(outer + d),
                               out.getDim(outer + d)};
  return w;
}

class PoolEmitter : public PlaneEmitter {
public:
  PoolEmitter(KernelContext &c, PoolOp pool) : PlaneEmitter(c, windowsOf(pool)), pool(pool) {}

private:
  Combiner combiner() { return pool.getKind() == PoolKind::Max ? Combiner::Max : Combiner::Sum; }
  Value combine(Value a, Value d) { return emitCombine(c.b, combiner(), c.b.getF32Type(), a, d); }
  Value identity() override {
    return c.e.constantData(c.b.getF32Type(), combinerIdentity(combiner(), c.b.getF32Type()));
  }

  SmallVector<Value> prepare(SmallVector<Value> taps) override {
    Value all = taps[0];
    for (Value tap : ArrayRef(taps).drop_front())
      all = combine(all, tap);
    return {all};
  }
  Value add(Value sum, ArrayRef<Value> prepared, int64_t) override {
    return combine(sum, prepared[0]);
  }

  /// Where counted elements begin, from the first of the operand, and how many there are.
  std::pair<Value, Value> counted(const ConvolutionWindow &w) {
    if (!pool.getCountPadding())
      return {number(0), c.e.uniform(w.in)};
    return {c.e.uniform(SymExpr::constant(c.b.getContext(), 0) - w.low),
            c.e.uniform(w.in + w.low + w.high)};
  }

  void startColumns(Value first) override {
    if (pool.getKind() != PoolKind::Average)
      return;
    auto [from, size] = counted(columns);
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

  Value finish(Value sum, Value row) override {
    if (pool.getKind() != PoolKind::Average)
      return sum;
    auto [from, size] = counted(rows);
    Value first = c.sub(c.sub(c.mul(row, number(rows.stride)), c.e.uniform(rows.low)), from),
          count = number(0);
    for (int64_t i = 0; i < rows.kernel; ++i) {
      Value here = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult,
                                             c.add(first, number(i * rows.dilation)), size);
      count = c.add(count, c.b.create<arith::ExtUIOp>(c.b.getI64Type(), here));
    }
    Value all = c.b.create<vector::SplatOp>(c.b.create<arith::SIToFPOp>(c.b.getF32Type(), count),
                                            vectorType());
    return c.b.create<arith::DivFOp>(sum, c.b.create<arith::MulFOp>(all, countInRow));
  }

  PoolOp pool;
  Value countInRow; ///< by lane
};

class PoolSchedule : public Schedule {
public:
  StringRef name() const override { return "pool"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override {
    PoolOp pool = match(spec);
    return pool && windowsOf(pool).isSupported();
  }
  Launch launch(func::FuncOp spec, const VectorIsa &) const override {
    return windowsOf(match(spec)).launch();
  }
  void emit(KernelContext &c) const override { PoolEmitter(c, match(c.spec)).emit(); }
};

} // namespace

const Schedule *poolSchedule() {
  static const PoolSchedule schedule;
  return &schedule;
}

} // namespace weft
