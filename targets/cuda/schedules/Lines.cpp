//===- Lines.cpp - Softmax and normalisation along the last dimension ------------------------------------===//
//
//   short lines: several a warp, with as many threads as there are chunks of lanes            [short]
//   long ones, where there are few, and very long ones: a block each                          [long]
//   others: a warp each                                                                       [warps]
//     a line that is short enough lies in registers, in chunks of lanes                       [held]
//     softmax: fold to the largest; fold to the sum of e^(element - largest)                  [softmax]
//     normalisation: fold to the sum; fold to the sum of (element - mean)^2                   [normalise]
//     epilogue and store, chunk by chunk                                                      [finish]
//   fold: each thread of a line combines its chunks, then its lanes, then all combine theirs  [fold]
//
// Elements of longer lines are pulled once for each fold and once for the result: what is computed on the way is computed again, and
// memory that is read again is in the caches.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "targets/common/match/LineShape.h"
#include "targets/cuda/LineThreads.h"
#include "targets/cuda/Stream.h"
#include "targets/cuda/Walk.h"

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

constexpr int64_t kThreads = 512, kThreadBits = 9, kWarp = SimtMachine::kWarp, kWarpBits = 5;
/// Elements of a line that a thread holds, where the length is known.
constexpr int64_t kMostHeld = 32;
/// Of a warp: so many chunks of a line, and where there are so many lines, more. Lines whose elements cannot be taken together are as long for it.
constexpr int64_t kWarpsChunks = 64, kManyLines = 2048, kManyChunks = 2048;

/// Emits the code of one of the threads that have a line.
class LineEmitter {
public:
  /// `held`: chunks of a thread that lie in registers, which hold the line; 0: it is walked.
  /// `isThere`: whether there is a line with the threads' number; null: there is.
  LineEmitter(SimtKernel &k, Operation *root, unsigned lanes, int64_t held, LineThreads threads,
              Value isThere)
      : k(k), b(k.b), root(root), type(lineType(root)), dims(type.getDims()),
        element(type.getElementType()), scalar(computeType(element)), lanes(lanes), held(held),
        threads(threads), isThere(isThere), index(k.lineIndex(dims, threads.line)),
        width(k.e.uniform(dims.back())),
        chunks(b.createOrFold<arith::DivUIOp>(width, constantI64(b, lanes))) {}

  const LineThreads &who() const { return threads; }

  void emit() {
    hold();
    if (auto softmax = dyn_cast<SoftmaxOp>(root))
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
      Value number = k.add(threads.member, k.mul(threads.count, constantI64(b, i)));
      Chunk chunk{k.mul(number, constantI64(b, lanes)), {}, isThere};
      if (!isFull(i)) {
        Value isInside = k.less(number, chunks);
        chunk.isThere = isThere ? Value(b.create<arith::AndIOp>(isThere, isInside)) : isInside;
      }
      auto pulled = [&] { return pull(chunk.place); };
      chunk.elements = chunk.isThere
                           ? k.e.guarded(chunk.isThere, pulled,
                                         k.e.constantData(scalar, Builder(b).getZeroAttr(scalar)))
                           : pulled();
      line.push_back(chunk);
    }
  }

  /// Whether all threads have a chunk number `i`.
  bool isFull(int64_t i) const {
    auto all = dims.back().asConstant();
    IntegerAttr count;
    return all && matchPattern(threads.count, m_Constant(&count)) &&
           *all >= (i + 1) * count.getInt() * lanes;
  }

  /// The thread's chunks, one after the other.
  void walkAlong(function_ref<void(const Chunk &)> body) {
    auto loop = b.create<scf::ForOp>(threads.member, chunks, threads.count);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(loop.getBody());
    k.e.forget();
    body({k.mul(loop.getInductionVar(), constantI64(b, lanes)), {}, {}});
    k.e.forget();
  }

  /// [fold] The chunks' values by `body`.
  Value fold(Combiner combiner, function_ref<Value(const Chunk &)> body) {
    Value identity = k.e.constantData(scalar, combinerIdentity(combiner, element));
    Value sum = identity;
    for (const Chunk &chunk : line) {
      Value next = body(chunk);
      if (chunk.isThere)
        next = b.create<arith::SelectOp>(chunk.isThere, next, identity);
      sum = emitCombine(b, combiner, element, sum, next);
    }
    if (!held) {
      auto load = [&](Value number) -> Values {
        return {body({k.mul(number, constantI64(b, lanes)), {}, {}})};
      };
      auto add = [&](ValueRange before, ValueRange loaded, Value) -> Values {
        return {emitCombine(b, combiner, element, before[0], loaded[0])};
      };
      int64_t bytes = int64_t(lanes) * std::max(1u, elementBits(element) / 8);
      sum = walk(k, {sum}, {threads.member, chunks, threads.count, loadsOnTheWay(bytes)},
                 {load, add})[0];
    }
    return threads.combine(combiner, element, combineLanes(b, combiner, element, sum));
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
      walkAlong(store);
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
  LineThreads threads;
  Value isThere;
  SmallVector<IndexValue> index;
  Value width, chunks;
  SmallVector<Chunk> line; ///< what is in registers
};

/// Emits the ways to have lines, between which all threads of the grid choose by sizes.
class WaysEmitter {
public:
  /// Threads hold `lanes` elements, and `most` where they can.
  WaysEmitter(SimtKernel &k, Operation *root, unsigned lanes, unsigned most, Value shared)
      : k(k), b(k.b), root(root), lanes(lanes), inChunk(most / lanes), shared(shared),
        width(lineType(root).getDims().back()), lines(k.e.uniform(linesOf(root))),
        chunks(b.createOrFold<arith::DivUIOp>(k.e.uniform(width), number(lanes))) {}

  void emit() {
    if (std::optional<int64_t> all = width.asConstant()) {
      int64_t count = llvm::divideCeil(*all, lanes);
      if (count <= kWarp)
        return shortLines();
      if (*all <= kMostHeld * kWarp)
        return warps(llvm::divideCeil(count, kWarp));
      return longer();
    }
    choose(
        k.less(number(kWarp), chunks), [&] { longer(); }, [&] { shortLines(); });
  }

private:
  Value number(int64_t value) { return constantI64(b, value); }

  void choose(Value condition, function_ref<void()> yes, function_ref<void()> no) {
    auto alone = [&](function_ref<void()> body) {
      body();
      k.e.forget();
    };
    k.choose(
        condition, [&] { alone(yes); }, [&] { alone(no); });
  }

  void longer() {
    Value isLong = b.create<arith::AndIOp>(
        k.less(number(kWarpsChunks * inChunk), chunks),
        b.create<arith::OrIOp>(k.less(lines, number(kManyLines)),
                               k.less(number(kManyChunks * inChunk), chunks)));
    choose(
        isLong, [&] { blocks(); }, [&] { warps(0); });
  }

  Value shiftLeft(Value a, Value bits) { return b.createOrFold<arith::ShLIOp>(a, bits); }

  /// Of so many lines each, which is a power of two with these bits.
  Value tileCount(Value bits) {
    Value rest = k.sub(shiftLeft(number(1), bits), number(1));
    return b.createOrFold<arith::ShRUIOp>(k.add(lines, rest), bits);
  }

  /// [short] Threads behind the last line take part without elements.
  void shortLines() {
    Value bits = groupBits(k, chunks), perTile = k.sub(number(kThreadBits), bits);
    k.inTurns(tileCount(perTile), [&](Value tile) {
      LineThreads threads = LineThreads::group(k, shiftLeft(tile, perTile), bits);
      LineEmitter(k, root, lanes, 1, threads, k.less(threads.line, lines)).emit();
    });
  }

  /// [warps]
  void warps(int64_t held) {
    Value perTile = number(kThreadBits - kWarpBits);
    k.inTurns(tileCount(perTile), [&](Value tile) {
      LineThreads threads = LineThreads::warp(k, shiftLeft(tile, perTile));
      k.when(k.less(threads.line, lines),
             [&] { LineEmitter(k, root, lanes, held, threads, Value()).emit(); });
    });
  }

  /// [long]
  void blocks() {
    k.inTurns(lines, [&](Value line) {
      LineThreads threads = LineThreads::block(k, line, shared, kThreads);
      LineEmitter emitter(k, root, lanes, 0, threads, Value());
      emitter.emit();
      if (!emitter.who().isPassed())
        k.gatherBlock();
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  Operation *root;
  unsigned lanes;
  int64_t inChunk; ///< so many of these are a chunk where elements can be taken together
  Value shared;
  SymExpr width;
  Value lines, chunks;
};

class LinesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "row"; }

  int64_t threads() const override { return kThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<Operation *> root = matchLines(spec);
    if (root && isa<ReduceOp>(*root))
      return {"reductions have a schedule of their own"};
    return root.decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &machine) const override {
    Operation *root = *matchLines(spec);
    SymTensorType type = lineType(root);
    SymExpr width = type.getDims().back();
    int64_t lanes = streamLanes(spec, type);
    std::optional<int64_t> all = width.asConstant();
    bool isHeld = all && *all <= kMostHeld * kWarp;
    LineGrid grid{lanes, kThreads, kWarpsChunks, isHeld ? 0 : kManyLines};
    return blocks(lineBlocks(linesOf(root), width, grid, machine), 1);
  }

  void emit(SimtKernel &k) const override {
    Operation *root = *matchLines(k.spec);
    SymTensorType type = lineType(root);
    Value shared = k.sharedBytes(kThreads / kWarp * LineThreads::kBytes);
    unsigned most = streamLanes(k.spec, type);
    Stream stream(k, type.getDims().back(), most);
    stream.emit([&](unsigned lanes) { WaysEmitter(k, root, lanes, most, shared).emit(); });
  }
};

} // namespace

const SimtSchedule *simtLines() {
  static const LinesSchedule schedule;
  return &schedule;
}

} // namespace weft
