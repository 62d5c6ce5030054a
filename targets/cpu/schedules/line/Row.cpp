//===- Row.cpp - Softmax, normalisation and reductions along the last dimension ---------------===//
//
//   for line of the operand                                                [lines]
//     reduction: fold all elements; epilogue and store of one              [reduce]
//     softmax: fold to the largest, elements to scratch; then fold to the  [softmax]
//       sum of e^(element - largest), which replaces the element
//     normalisation: fold to the sum, elements to scratch; then fold to    [normalise]
//       the sum of (element - mean)^2
//     softmax, normalisation: for vector of the line                       [finish]
//       from scratch by the sums; epilogue and store, the last one masked
//   fold: carried = identity, one vector in a register
//     for vector of the line: carried = combine(carried, element)          [fold]
//     the last vector is masked; then its lanes are combined               [lanes]
//
// A unit is one line. It is pulled once (where elementwise producers are computed on the way),
// reduced in vectors, and written out through the elementwise consumers: one pass over memory. The
// powers of a logarithm of a softmax are summed and not kept.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/match/LineShape.h"
#include "targets/cpu/machine/BoundedExponential.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGrainWork = 8192;

class RowSchedule : public Schedule {
public:
  StringRef name() const override { return "row"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return matchLines(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    Operation *root = *matchLines(spec);
    SmallVector<SymExpr> dims = lineType(root).getDims();
    SymExpr one = SymExpr::constant(spec.getContext(), 1), rows = one;
    for (SymExpr dim : ArrayRef(dims).drop_back())
      rows = rows * dim;
    SymExpr inner = SymExpr::max(dims.back(), one);
    SymExpr grain = SymExpr::max(
        SymExpr::floordiv(SymExpr::constant(spec.getContext(), kGrainWork), inner), one);
    unsigned bytes = computeType(lineType(root).getElementType()).getIntOrFloatBitWidth() / 8;
    SymExpr scratch = isa_and_nonnull<ReduceOp>(root)
                          ? SymExpr::constant(spec.getContext(), 0)
                          : SymExpr::ceildiv(dims.back(), 64) * int64_t(64 * bytes);
    return {rows, grain, scratch};
  }

  void emit(KernelContext &c) const override {
    Operation *root = *matchLines(c.spec);
    SmallVector<SymExpr> dims = lineType(root).getDims();
    // [lines] Each is computed by one thread.
    c.loop(c.begin, c.end, 1,
           [&](Value unit) { RowEmitter(c, root, c.lineIndex(dims, unit)).emit(); });
  }

private:
  /// Emits one line.
  struct RowEmitter {
    KernelContext &c;
    Operation *root;
    SmallVector<IndexValue> index;
    SymExpr width;
    Type element, scalar;
    SymTensorType scratchType;

    RowEmitter(KernelContext &c, Operation *root, SmallVector<IndexValue> index)
        : c(c), root(root), index(index) {
      width = lineType(root).getDims().back();
      element = lineType(root).getElementType();
      scalar = computeType(element);
      scratchType = SymTensorType::get({width}, scalar);
    }

    Value lanes(Value v) { return c.e.splat(v); }
    Value number(double v) {
      return c.b.create<arith::ConstantOp>(TypedAttr(FloatAttr::get(scalar, v)));
    }
    Value addf(Value a, Value x) { return c.b.create<arith::AddFOp>(a, x); }
    Value mulf(Value a, Value x) { return c.b.create<arith::MulFOp>(a, x); }
    Value subf(Value a, Value x) { return c.b.create<arith::SubFOp>(a, x); }

    void emit() {
      if (auto reduce = dyn_cast<ReduceOp>(root))
        emitReduce(reduce);
      else if (auto softmax = dyn_cast<SoftmaxOp>(root))
        emitSoftmax(softmax);
      else
        emitNormalize(cast<NormalizeOp>(root));
    }

    /// [lanes] Folds `body` over the line in vectors and combines the lanes.
    Value foldLine(Combiner combiner, Type type, function_ref<Value(IndexValue)> body) {
      TypedAttr identity = combinerIdentity(combiner, type);
      Value initial = c.e.constantData(computeType(type), identity);
      Value none = initial;
      SmallVector<Value> sums = carriedVectors(initial, [&](IndexValue i, Value sum, Value mask) {
        Value value = body(i);
        if (mask)
          value = c.b.create<arith::SelectOp>(mask, value, none);
        return emitCombine(c.b, combiner, type, sum, value);
      });
      return combineLanes(c.b, combiner, type, sums[0]);
    }

    /// [fold] Like KernelContext::vectors with one carried vector.
    SmallVector<Value> carriedVectors(Value init,
                                      function_ref<Value(IndexValue, Value, Value)> body) {
      unsigned lanes = c.e.laneCount();
      SymExpr whole = SymExpr::floordiv(width, lanes) * int64_t(lanes);
      Value end = c.e.uniform(width), wholeEnd = c.e.uniform(whole), zero = constantI64(c.b, 0);
      SmallVector<Value> sums{init};
      auto step = [&](Value i, ValueRange carried, Value mask) {
        c.e.forget();
        c.e.setTailMask(mask);
        SmallVector<Value> next{body({i, 1}, carried[0], mask)};
        c.e.setTailMask({});
        c.e.forget();
        return next;
      };
      if (!whole.isConstant(0))
        sums = c.loop(zero, wholeEnd, lanes, sums,
                      [&](Value i, ValueRange carried) { return step(i, carried, {}); });
      if (whole == width)
        return sums;
      return c.loop(wholeEnd, end, lanes, sums, [&](Value i, ValueRange carried) {
        Value left = c.b.create<arith::SubIOp>(end, i);
        Value lane = c.e.materialize({constantI64(c.b, 0), 1});
        Value mask = lanes == 1 ? Value()
                                : Value(c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, lane,
                                                                  c.e.splat(left)));
        return step(i, carried, mask);
      });
    }

    SmallVector<IndexValue> at(IndexValue i) {
      SmallVector<IndexValue> position(index);
      position.back() = i;
      return position;
    }

    Value fromScratch(IndexValue i) { return c.e.load(c.scratch, scratchType, {i}); }
    void toScratch(IndexValue i, Value data) { c.e.store(c.scratch, scratchType, {i}, data); }

    /// [finish] Stores all results, with the root's elements computed by `value`.
    void finish(function_ref<Value(IndexValue, Value)> value) {
      c.vectors(width, [&](IndexValue i) {
        c.e.provide(root->getResult(0), [&](ArrayRef<IndexValue> index) {
          return value(index.back(), fromScratch(index.back()));
        });
        SmallVector<Value> data;
        for (Value result : c.returnOp()->getOperands())
          data.push_back(c.e.pull(result, at(i)));
        for (auto [k, v] : llvm::enumerate(data))
          c.e.store(c.outputs[k], c.resultType(k), at(i), v);
      });
    }

    /// [reduce] The epilogue has one element: one lane.
    void emitReduce(ReduceOp reduce) {
      Value total = foldLine(Combiner(reduce.getKind()), element,
                             [&](IndexValue i) { return c.e.pull(reduce.getInput(), at(i)); });
      unsigned lanes = c.e.laneCount();
      c.e.setLanes(1);
      c.e.provide(root->getResult(0), [&](ArrayRef<IndexValue>) { return total; });
      SmallVector<IndexValue> position(index);
      position.pop_back();
      for (auto [k, result] : llvm::enumerate(c.returnOp()->getOperands()))
        c.e.store(c.outputs[k], c.resultType(k), position, c.e.pull(result, position));
      c.e.setLanes(lanes);
    }

    /// [softmax] Its quotient is one division per line: elements are multiplied.
    void emitSoftmax(SoftmaxOp softmax) {
      Value largest = foldLine(Combiner::Max, element, [&](IndexValue i) {
        Value x = c.e.pull(softmax.getInput(), at(i));
        toScratch(i, x);
        return x;
      });
      Value shift = lanes(largest);
      bool logarithm = softmax.getLogarithm();
      Value sum = foldLine(Combiner::Sum, element, [&](IndexValue i) {
        Value power = powerOfNegative(c.b, subf(fromScratch(i), shift), kBoundedAttr);
        if (!logarithm)
          toScratch(i, power);
        return power;
      });
      if (logarithm) {
        Value offset = lanes(addf(largest, c.b.create<math::LogOp>(sum)));
        finish([&](IndexValue, Value x) { return subf(x, offset); });
        return;
      }
      Value factor = lanes(c.b.create<arith::DivFOp>(number(1), sum));
      finish([&](IndexValue, Value x) { return mulf(x, factor); });
    }

    /// [normalise] From the differences to the mean: no digits are lost when the mean is large.
    void emitNormalize(NormalizeOp op) {
      Value count = c.b.create<arith::SIToFPOp>(scalar, c.e.uniform(width));
      Value sum = foldLine(Combiner::Sum, element, [&](IndexValue i) {
        Value x = c.e.pull(op.getInput(), at(i));
        toScratch(i, x);
        return x;
      });
      Value mean = op.getCenter() ? Value(c.b.create<arith::DivFOp>(sum, count)) : number(0);
      Value shift = lanes(mean);
      Value squares = foldLine(Combiner::Sum, element, [&](IndexValue i) {
        Value x = subf(fromScratch(i), shift);
        return mulf(x, x);
      });
      Value variance = addf(c.b.create<arith::DivFOp>(squares, count),
                            number(op.getEpsilon().convertToDouble()));
      Value factor =
          lanes(c.b.create<arith::DivFOp>(number(1), c.b.create<math::SqrtOp>(variance)));
      finish([&](IndexValue i, Value x) {
        Value scale = c.e.pull(op.getScale(), {i}), offset = c.e.pull(op.getShift(), {i});
        return addf(mulf(mulf(subf(x, shift), factor), scale), offset);
      });
    }
  };
};

} // namespace

const Schedule *rowSchedule() {
  static const RowSchedule schedule;
  return &schedule;
}

} // namespace weft
