//===- AttentionRows.cpp - Softmax of rows that lie in panels -------------------------------------===//
//
//   for row: for panel: the largest of its scores                              [largest]
//   for row
//     for panel: scores become e^(score - largest), which are summed           [powers]
//   for row: for panel: what stands between softmax and product, in place      [between]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/product/AttentionRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/machine/BoundedExponential.h"

using namespace mlir;

namespace weft {

AttentionRows::AttentionRows(KernelContext &c, const AttentionShape &shape,
                             const AttentionScratch &plan, ArrayRef<Value> batch, Value first)
    : c(c), s(shape), plan(plan), batch(batch), first(first), lanes(c.machine.lanes()),
      f32(c.b.getF32Type()), vector(VectorType::get({lanes}, f32)), scores(plan.scoresAt(c)),
      numbers(plan.numbersAt(c)), panels(c.e.uniform(plan.panels)) {}

Value AttentionRows::zeros() const {
  return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector));
}

Value AttentionRows::lowest() const {
  return c.e.constantData(f32, combinerIdentity(Combiner::Max, f32));
}

Value AttentionRows::address(Value panel, Value row, int64_t v) const {
  Value at = c.add(c.mul(panel, constantI64(c.b, plan.rows * plan.columns)),
                   c.mul(row, constantI64(c.b, plan.columns)));
  return elementPointer(c.b, scores, f32, c.add(at, constantI64(c.b, v * lanes)));
}

Value AttentionRows::load(Value panel, Value row, int64_t v) const {
  return c.b.create<LLVM::LoadOp>(vector, address(panel, row, v), 4);
}

IndexValue AttentionRows::columnOf(Value panel, int64_t v) const {
  return {c.add(c.mul(panel, constantI64(c.b, plan.columns)), constantI64(c.b, v * lanes)), 1};
}

SmallVector<IndexValue> AttentionRows::indexOf(Value row, IndexValue column) const {
  return s.line.index(batch, {c.add(first, row)}, column);
}

Value AttentionRows::storeScores(Value panel, Value row, int64_t v, Value sums, bool whole) const {
  IndexValue column = columnOf(panel, v);
  Value inside = whole ? Value() : c.e.less(column, c.e.symbolic(s.n));
  c.e.setTailMask(inside);
  c.e.provide(s.scores.getResult(), [&](ArrayRef<IndexValue>) { return sums; });
  Value x = c.e.pull(s.softmax.getInput(), indexOf(row, column));
  if (inside)
    x = c.b.create<arith::SelectOp>(inside, x, lowest());
  c.b.create<LLVM::StoreOp>(x, address(panel, row, v), 4);
  c.e.setTailMask({});
  return x;
}

SmallVector<Value> AttentionRows::everyPanel(ValueRange init, Panel body) const {
  Value zero = constantI64(c.b, 0),
        whole = plan.tiles ? c.e.uniform(SymExpr::floordiv(s.n, plan.columns)) : zero;
  auto loop = [&](Value from, Value to, bool isWhole, ValueRange carried) {
    return c.loop(from, to, 1, carried,
                  [&](Value panel, ValueRange values) { return body(panel, isWhole, values); });
  };
  SmallVector<Value> carried(init);
  if (plan.tiles)
    carried = loop(zero, whole, true, carried);
  return loop(whole, panels, false, carried);
}

/// Where one is nan, either: the sum of powers tells.
static Value larger(ImplicitLocOpBuilder &b, Value a, Value d) {
  return b.create<arith::SelectOp>(b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, a, d), a, d);
}

/// [largest]
Value AttentionRows::largest(Value row, Scores scoresOf) const {
  SmallVector<Value> found =
      everyPanel({lowest(), lowest()}, [&](Value panel, bool whole, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t v = 0; v < 2; ++v)
          next.push_back(larger(c.b, carried[v], scoresOf(row, panel, v, whole)));
        return next;
      });
  return foldLanes(c.b, larger(c.b, found[0], found[1]), larger);
}

/// [powers]
Value AttentionRows::sumOfPowers(Value row, Value largest) const {
  SmallVector<Value> sums =
      c.loop(constantI64(c.b, 0), panels, 1, ValueRange{zeros(), zeros()},
             [&](Value panel, ValueRange carried) {
               SmallVector<Value> next;
               for (int64_t v = 0; v < 2; ++v) {
                 Value power = powerOfNegative(
                     c.b, c.b.create<arith::SubFOp>(load(panel, row, v), largest), kBoundedAttr);
                 c.b.create<LLVM::StoreOp>(power, address(panel, row, v), 4);
                 next.push_back(c.b.create<arith::AddFOp>(carried[v], power));
               }
               return next;
             });
  return combineLanes(c.b, Combiner::Sum, f32, c.b.create<arith::AddFOp>(sums[0], sums[1]));
}

bool AttentionRows::dividesWeights() const {
  return s.weights != s.softmax.getResult() || plan.mixPairs;
}

Value AttentionRows::kept(Value row) const { return elementPointer(c.b, numbers, f32, row); }

std::optional<Value> AttentionRows::factor(Value row) const {
  if (dividesWeights())
    return {};
  return c.e.splat(c.b.create<LLVM::LoadOp>(f32, kept(row), 4));
}

void AttentionRows::softmax(Value from, Value to, Scores scoresOf) const {
  auto everyRow = [&](function_ref<void(Value)> body) {
    c.loop(from, to, 1, [&](Value row) {
      c.e.forget();
      body(row);
      c.e.forget();
    });
  };
  auto load = [&](Value row) { return c.e.splat(c.b.create<LLVM::LoadOp>(f32, kept(row), 4)); };
  auto keep = [&](Value row, Value x) { c.b.create<LLVM::StoreOp>(x, kept(row), 4); };
  everyRow([&](Value row) { keep(row, largest(row, scoresOf)); });
  Value one = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(1)),
        nothing = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(0));
  Value empty = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, panels,
                                          constantI64(c.b, 0)); // a sum over nothing is 0
  everyRow([&](Value row) {
    Value inverse = c.b.create<arith::DivFOp>(one, sumOfPowers(row, load(row)));
    keep(row, c.b.create<arith::SelectOp>(empty, nothing, inverse));
  });
  if (dividesWeights())
    everyRow([&](Value row) { between(row, load(row)); });
}

/// [between] In the first half of a panel's row where weights are pairs.
void AttentionRows::between(Value row, Value factor) const {
  everyPanel({}, [&](Value panel, bool whole, ValueRange) -> SmallVector<Value> {
    for (int64_t v = 0; v < 2; ++v) {
      c.e.forget();
      IndexValue n = columnOf(panel, v);
      Value x = c.b.create<arith::MulFOp>(load(panel, row, v), factor);
      c.e.provide(s.softmax.getResult(), [&](ArrayRef<IndexValue>) { return x; });
      Value inside = whole ? Value() : c.e.less(n, c.e.symbolic(s.n));
      c.e.setTailMask(inside);
      SmallVector<IndexValue> index = indexOf(row, n);
      if (plan.mixPairs)
        plan.storeWeights(c, index, address(panel, row, 0), v, inside);
      else
        c.b.create<LLVM::StoreOp>(c.e.pull(s.weights, index), address(panel, row, v), 4);
      c.e.setTailMask({});
    }
    c.e.forget();
    return {};
  });
  if (plan.mixPairs && !plan.tiles)
    plan.endWeights(c, [&](Value panel) { return address(panel, row, 0); });
}

void AttentionRows::finish(Value row, int64_t column, Value mean) const {
  c.e.forget();
  IndexValue e{constantI64(c.b, column), 1};
  if (column + lanes > s.e) // only the vector in which e ends has a mask
    c.e.setTailMask(c.e.less(e, c.e.constant(s.e)));
  SmallVector<IndexValue> index = s.out.index(batch, {c.add(first, row)}, e);
  c.e.provide(s.mix.getResult(), [&](ArrayRef<IndexValue>) { return mean; });
  c.storeResults(index);
  c.e.setTailMask({});
  c.e.forget();
}

} // namespace weft
