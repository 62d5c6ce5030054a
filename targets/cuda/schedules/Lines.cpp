//===- Lines.cpp - Softmax, normalisation and reductions along the last dimension --------------------===//
//
//   warp of the grid, where there is a line with its number                        [lines]
//     a line that is short enough lies in registers, in chunks of lanes            [held]
//     reduction: fold all elements; the first thread stores the epilogue           [reduce]
//     softmax: fold to the largest; fold to the sum of e^(element - largest)       [softmax]
//     normalisation: fold to the sum; fold to the sum of (element - mean)^2        [normalise]
//     softmax, normalisation: epilogue and store, chunk by chunk                   [finish]
//   fold: a thread combines every 32nd chunk, then its lanes, then the warp        [fold]
//
// Elements of longer lines are pulled once for each fold and once for the result: what is computed on the way is computed again, and
// memory that is read again is in the caches.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "targets/common/match/LineShape.h"
#include "targets/cuda/Stream.h"

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

/// Elements of a line that a thread holds, where the length is known.
constexpr int64_t kMostHeld = 32;

/// Emits the code of one thread of a line's warp.
class LineEmitter {
public:
  /// `held`: chunks of a thread that lie in registers, which hold the line; 0: it is walked.
  LineEmitter(SimtKernel &k, Operation *root, unsigned lanes, int64_t held)
      : k(k), b(k.b), root(root), type(lineType(root)), dims(type.getDims()),
        element(type.getElementType()), scalar(computeType(element)), lanes(lanes), held(held),
        index(k.lineIndex(dims, k.warp())), width(k.e.uniform(dims.back())),
        chunks(b.createOrFold<arith::DivUIOp>(width, constantI64(b, lanes))), lane(k.lane()) {}

  void emit() {
    hold();
    if (auto reduce = dyn_cast<ReduceOp>(root))
      emitReduce(reduce);
    else if (auto softmax = dyn_cast<SoftmaxOp>(root))
      emitSoftmax(softmax);
    else
      emitNormalize(cast<NormalizeOp>(root));
  }

private:
  /// Of a line: where it begins, and in registers, its elements and whether it is there; null: it is.
  struct Chunk {
    Value place, elements, isThere;
  };

  Value addf(Value a, Value c) { return b.create<arith::AddFOp>(a, c); }
  Value subf(Value a, Value c) { return b.create<arith::SubFOp>(a, c); }
  Value mulf(Value a, Value c) { return b.create<arith::MulFOp>(a, c); }
  Value divf(Value a, Value c) { return b.create<arith::DivFOp>(a, c); }
  Value number(double value) {
    return b.create<arith::ConstantOp>(TypedAttr(FloatAttr::get(scalar, value)));
  }

  SmallVector<IndexValue> at(Value place) {
    SmallVector<IndexValue> full(index);
    full.back() = {place, 1};
    return full;
  }
  Value pull(Value place) { return k.e.pull(root->getOperand(0), at(place)); }
  Value elementsOf(const Chunk &chunk) {
    return chunk.elements ? chunk.elements : pull(chunk.place);
  }

  /// [held]
  void hold() {
    for (int64_t i = 0; i < held; ++i) {
      Value number = k.add(lane, constantI64(b, i * SimtMachine::kWarp));
      Chunk chunk{k.mul(number, constantI64(b, lanes)), {}, {}};
      auto all = dims.back().asConstant();
      if (!all || *all < (i + 1) * SimtMachine::kWarp * int64_t(lanes))
        chunk.isThere = k.less(number, chunks);
      auto pulled = [&] { return pull(chunk.place); };
      chunk.elements = chunk.isThere
                           ? k.e.guarded(chunk.isThere, pulled,
                                         k.e.constantData(scalar, Builder(b).getZeroAttr(scalar)))
                           : pulled();
      line.push_back(chunk);
    }
  }

  /// The thread's chunks, one after the other.
  void walk(function_ref<void(const Chunk &)> body) {
    k.loop(lane, chunks, SimtMachine::kWarp, [&](Value number) {
      k.e.forget();
      body({k.mul(number, constantI64(b, lanes)), {}, {}});
      k.e.forget();
    });
  }

  /// [fold] The chunks' values by `body`.
  Value fold(Combiner combiner, function_ref<Value(const Chunk &)> body) {
    Value identity = k.e.constantData(scalar, combinerIdentity(combiner, element));
    SmallVector<Value> sums{identity};
    for (const Chunk &chunk : line) {
      Value next = body(chunk);
      if (chunk.isThere)
        next = b.create<arith::SelectOp>(chunk.isThere, next, identity);
      sums[0] = emitCombine(b, combiner, element, sums[0], next);
    }
    if (!held)
      sums = k.loop(lane, chunks, SimtMachine::kWarp, ValueRange(sums),
                    [&](Value number, ValueRange carried) {
                      k.e.forget();
                      Chunk chunk{k.mul(number, constantI64(b, lanes)), {}, {}};
                      SmallVector<Value> next{
                          emitCombine(b, combiner, element, carried[0], body(chunk))};
                      k.e.forget();
                      return next;
                    });
    return k.combineWarp(combiner, element, combineLanes(b, combiner, element, sums[0]));
  }

  /// [finish] Stores all results, with the root's elements computed by `value`.
  void finish(function_ref<Value(const Chunk &)> value) {
    auto store = [&](const Chunk &chunk) {
      k.e.provide(root->getResult(0), [&](ArrayRef<IndexValue>) { return value(chunk); });
      k.storeResults(at(chunk.place));
    };
    for (const Chunk &chunk : line)
      if (chunk.isThere)
        k.when(chunk.isThere, [&] { store(chunk); });
      else
        store(chunk);
    if (!held)
      walk(store);
  }

  /// [reduce] In all threads, of which the first stores.
  void emitReduce(ReduceOp reduce) {
    Value total =
        fold(Combiner(reduce.getKind()), [&](const Chunk &chunk) { return elementsOf(chunk); });
    k.e.setLanes(1);
    k.e.provide(root->getResult(0), [&](ArrayRef<IndexValue>) { return total; });
    k.when(k.less(lane, constantI64(b, 1)), [&] { k.storeResults(ArrayRef(index).drop_back()); });
    k.e.setLanes(lanes);
  }

  /// [softmax] Its quotient is one division per line.
  void emitSoftmax(SoftmaxOp softmax) {
    Value largest =
        k.e.splat(fold(Combiner::Max, [&](const Chunk &chunk) { return elementsOf(chunk); }));
    auto power = [&](Chunk &chunk) { return powerOfNegative(b, subf(elementsOf(chunk), largest)); };
    bool isLogarithm = softmax.getLogarithm();
    size_t next = 0;
    Value sum = fold(Combiner::Sum, [&](Chunk chunk) {
      Value powers = power(chunk);
      if (!isLogarithm && held) // once is enough
        line[next++].elements = powers;
      return powers;
    });
    if (isLogarithm) {
      Value offset = addf(largest, k.e.splat(b.create<math::LogOp>(sum)));
      return finish([&](const Chunk &chunk) { return subf(elementsOf(chunk), offset); });
    }
    Value factor = k.e.splat(divf(number(1), sum));
    finish([&](Chunk chunk) { return mulf(held ? chunk.elements : power(chunk), factor); });
  }

  /// [normalise] From the differences to the mean: no digits are lost when the mean is large.
  void emitNormalize(NormalizeOp op) {
    Value count = b.create<arith::SIToFPOp>(scalar, width);
    Value mean = number(0);
    if (op.getCenter())
      mean =
          divf(fold(Combiner::Sum, [&](const Chunk &chunk) { return elementsOf(chunk); }), count);
    mean = k.e.splat(mean);
    Value squares = fold(Combiner::Sum, [&](const Chunk &chunk) {
      Value x = subf(elementsOf(chunk), mean);
      return mulf(x, x);
    });
    Value variance = addf(divf(squares, count), number(op.getEpsilon().convertToDouble()));
    Value factor = k.e.splat(divf(number(1), b.create<math::SqrtOp>(variance)));
    finish([&](const Chunk &chunk) {
      Value scale = k.e.pull(op.getScale(), {{chunk.place, 1}}),
            shift = k.e.pull(op.getShift(), {{chunk.place, 1}});
      return addf(mulf(mulf(subf(elementsOf(chunk), mean), factor), scale), shift);
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  Operation *root;
  SymTensorType type;
  SmallVector<SymExpr> dims;
  Type element, scalar;
  int64_t lanes, held;
  SmallVector<IndexValue> index;
  Value width, chunks, lane;
  SmallVector<Chunk> line; ///< what is in registers
};

/// All threads of a warp have a line: it is in registers, where it is known to be short or turns out to have a chunk for each thread at most.
void emitLines(SimtKernel &k, Operation *root, unsigned lanes) {
  auto emit = [&](int64_t held) { LineEmitter(k, root, lanes, held).emit(); };
  SymExpr width = lineType(root).getDims().back();
  int64_t step = SimtMachine::kWarp * int64_t(lanes);
  if (auto all = width.asConstant())
    return emit(*all <= kMostHeld * SimtMachine::kWarp ? llvm::divideCeil(*all, step) : 0);
  if (lanes == 1)
    return emit(0);
  Value isLonger = k.less(constantI64(k.b, step), k.e.uniform(width));
  k.choose(
      isLonger,
      [&] {
        emit(0);
        k.e.forget();
      },
      [&] {
        emit(1);
        k.e.forget();
      });
}

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
    SymTensorType type = lineType(root);
    Stream stream(k, type.getDims().back(), streamLanes(k.spec, type));
    k.when(k.less(k.warp(), k.e.uniform(linesOf(root))),
           [&] { stream.emit([&](unsigned lanes) { emitLines(k, root, lanes); }); });
  }
};

} // namespace

const SimtSchedule *simtLines() {
  static const LinesSchedule schedule;
  return &schedule;
}

} // namespace weft
