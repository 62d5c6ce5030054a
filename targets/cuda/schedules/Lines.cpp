//===- Lines.cpp - Softmax, normalisation and reductions along the last dimension --------------------===//
//
//   warp of the grid, where there is a line with its number                        [lines]
//     reduction: fold all elements; the first thread stores the epilogue           [reduce]
//     softmax: fold to the largest; fold to the sum of e^(element - largest)       [softmax]
//     normalisation: fold to the sum; fold to the sum of (element - mean)^2        [normalise]
//     softmax, normalisation: epilogue and store, element by element               [finish]
//   fold: a thread combines every 32nd element, then the warp its threads          [fold]
//
// Elements are pulled once for each fold and once for the result: what is computed on the way is computed again, and memory that is
// read again is in the caches.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "targets/common/match/LineShape.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

SymExpr linesOf(Operation *root) {
  SymExpr lines = SymExpr::constant(root->getContext(), 1);
  SmallVector<SymExpr> dims = lineType(root).getDims();
  for (SymExpr dim : ArrayRef(dims).drop_back())
    lines = lines * dim;
  return lines;
}

/// Emits the code of one thread of a line's warp.
class LineEmitter {
public:
  LineEmitter(SimtKernel &k, Operation *root)
      : k(k), b(k.b), root(root), type(lineType(root)), dims(type.getDims()),
        element(type.getElementType()), scalar(computeType(element)),
        index(k.lineIndex(dims, k.warp())), width(k.e.uniform(dims.back())), lane(k.lane()) {}

  void emit() {
    if (auto reduce = dyn_cast<ReduceOp>(root))
      emitReduce(reduce);
    else if (auto softmax = dyn_cast<SoftmaxOp>(root))
      emitSoftmax(softmax);
    else
      emitNormalize(cast<NormalizeOp>(root));
  }

private:
  Value addf(Value a, Value c) { return b.create<arith::AddFOp>(a, c); }
  Value subf(Value a, Value c) { return b.create<arith::SubFOp>(a, c); }
  Value mulf(Value a, Value c) { return b.create<arith::MulFOp>(a, c); }
  Value divf(Value a, Value c) { return b.create<arith::DivFOp>(a, c); }
  Value number(double value) {
    return b.create<arith::ConstantOp>(TypedAttr(FloatAttr::get(scalar, value)));
  }

  SmallVector<IndexValue> at(Value i) {
    SmallVector<IndexValue> place(index);
    place.back() = {i, 1};
    return place;
  }

  /// [fold] The elements' values by `body`.
  Value fold(Combiner combiner, function_ref<Value(Value)> body) {
    TypedAttr identity = combinerIdentity(combiner, element);
    SmallVector<Value> sums{k.e.constantData(scalar, identity)};
    sums =
        k.loop(lane, width, SimtMachine::kWarp, ValueRange(sums), [&](Value i, ValueRange carried) {
          k.e.forget();
          SmallVector<Value> next{emitCombine(b, combiner, element, carried[0], body(i))};
          k.e.forget();
          return next;
        });
    return k.combineWarp(combiner, element, sums[0]);
  }

  Value pulled(Value i) { return k.e.pull(root->getOperand(0), at(i)); }

  /// [finish] Stores all results, with the root's elements computed by `value`.
  void finish(function_ref<Value(Value)> value) {
    k.e.provide(root->getResult(0),
                [&](ArrayRef<IndexValue> place) { return value(place.back().base); });
    k.loop(lane, width, SimtMachine::kWarp, [&](Value i) {
      k.e.forget();
      k.storeResults(at(i));
      k.e.forget();
    });
  }

  /// [reduce] In all threads, of which the first stores.
  void emitReduce(ReduceOp reduce) {
    Value total = fold(Combiner(reduce.getKind()), [&](Value i) { return pulled(i); });
    k.e.provide(root->getResult(0), [&](ArrayRef<IndexValue>) { return total; });
    k.when(k.less(lane, constantI64(b, 1)), [&] { k.storeResults(ArrayRef(index).drop_back()); });
  }

  /// [softmax] Its quotient is one division per line.
  void emitSoftmax(SoftmaxOp softmax) {
    Value largest = fold(Combiner::Max, [&](Value i) { return pulled(i); });
    auto power = [&](Value i) { return powerOfNegative(b, subf(pulled(i), largest)); };
    Value sum = fold(Combiner::Sum, power);
    if (softmax.getLogarithm()) {
      Value offset = addf(largest, b.create<math::LogOp>(sum));
      return finish([&](Value i) { return subf(pulled(i), offset); });
    }
    Value factor = divf(number(1), sum);
    finish([&](Value i) { return mulf(power(i), factor); });
  }

  /// [normalise] From the differences to the mean: no digits are lost when the mean is large.
  void emitNormalize(NormalizeOp op) {
    Value count = b.create<arith::SIToFPOp>(scalar, width);
    Value mean = number(0);
    if (op.getCenter())
      mean = divf(fold(Combiner::Sum, [&](Value i) { return pulled(i); }), count);
    Value squares = fold(Combiner::Sum, [&](Value i) {
      Value x = subf(pulled(i), mean);
      return mulf(x, x);
    });
    Value variance = addf(divf(squares, count), number(op.getEpsilon().convertToDouble()));
    Value factor = divf(number(1), b.create<math::SqrtOp>(variance));
    finish([&](Value i) {
      Value scale = k.e.pull(op.getScale(), {{i, 1}}), shift = k.e.pull(op.getShift(), {{i, 1}});
      return addf(mulf(mulf(subf(pulled(i), mean), factor), scale), shift);
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  Operation *root;
  SymTensorType type;
  SmallVector<SymExpr> dims;
  Type element, scalar;
  SmallVector<IndexValue> index;
  Value width, lane;
};

class LinesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "row"; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchLines(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    return blocks(linesOf(*matchLines(spec)), threads() / SimtMachine::kWarp);
  }

  void emit(SimtKernel &k) const override {
    // [lines] All threads of a warp have one.
    Operation *root = *matchLines(k.spec);
    k.when(k.less(k.warp(), k.e.uniform(linesOf(root))), [&] { LineEmitter(k, root).emit(); });
  }
};

} // namespace

const SimtSchedule *simtLines() {
  static const LinesSchedule schedule;
  return &schedule;
}

} // namespace weft
