//===- RealAttention.cpp - Attention of floats by ordinary units --------------------------------------------===//
//
//   block: 64 queries of a head, or 32; 8 where there are no more                          [rows]
//     where these are few blocks, several for the same queries, each with some keys
//     eight groups of 16 threads, each with its rows, a thread with four neighbouring keys
//     queries in shared memory, line by line
//     for 64 keys
//       scores: 64 of d at once, four products of a line at a time                         [scores]
//       the running softmax: a row lies in 16 threads                                      [softmax]
//       powers to shared memory, line by line, where keys were
//       for 64 columns of the values: these to shared memory, and products                 [mix]
//     sums over the sum of powers to shared memory, and out                                [store]
//
// Lines in shared memory are so long that threads which read them side by side meet different banks. The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/AttentionBlock.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGroups = 8, kInGroup = 16, kFour = 4, kMostDepth = 128, kKeyDepth = 64,
                  kLongKeyDepth = 32, kValueColumns = 64;
/// Threads that have a row's scores differ in these bits.
constexpr unsigned kRowBits[] = {1, 2, 4, 8};
constexpr int64_t kHeldOfMost = 8, kHeldOfMany = 4, kHeldOfFew = 1;

AttentionTile tileOf(const AttentionShape &s, int64_t held) {
  int64_t deep = roundUp(s.d, 2 * kFour), columns = AttentionBlock::columnsOf(s);
  int64_t keyDepth = deep <= kKeyDepth ? deep : kLongKeyDepth;
  return {held * kGroups, s.d <= kMostDepth ? roundUp(deep, keyDepth) : keyDepth, keyDepth, columns,
          std::min(roundUp(columns, TileWriter::kColumns), kValueColumns)};
}

/// Lines of a tile in shared memory, in f32.
struct Lines {
  int64_t begin, stride;
};

/// Behind lines of queries and weights: the two groups of a warp read lines that are 16 banks apart.
int64_t strideOf(int64_t elements, int64_t held) {
  return held == kHeldOfFew ? roundUp(elements, 32) + 16 : elements + kFour;
}

/// What lies in shared memory: weights where keys were, and sums where everything was.
struct Places {
  Lines queries, keys, weights, values;
  int64_t flag, all;
};

Places placesOf(const AttentionShape &s, int64_t held) {
  AttentionTile tile = tileOf(s, held);
  Places places;
  places.queries = {0, strideOf(tile.depth, held)};
  int64_t behindQueries = tile.rows * places.queries.stride;
  places.keys = {behindQueries, tile.keyDepth + kFour};
  places.weights = {behindQueries, strideOf(tile.keys, held)};
  places.values = {behindQueries +
                       std::max(tile.keys * places.keys.stride, tile.rows * places.weights.stride),
                   tile.valueColumns + kFour};
  int64_t operands = places.values.begin + tile.keys * places.values.stride,
          sums = tile.rows * tile.sumColumns();
  places.flag = 4 * std::max(operands, sums);
  places.all = places.flag + 16;
  return places;
}

int64_t heldOf(const AttentionShape &s) {
  return placesOf(s, kHeldOfMost).all <= kMostShared ? kHeldOfMost : kHeldOfMany;
}

/// Emits the code of one thread.
class RealEmitter {
public:
  RealEmitter(SimtKernel &k, const AttentionShape &s, int64_t held, Value shared)
      : k(k), b(k.b), s(s), held(held), tile(tileOf(s, held)), places(placesOf(s, held)),
        block(k, s, tile, TileElements::Reals, k.sharedPlace(shared, constantI64(b, places.flag))),
        shared(shared), width(tile.columns > TileWriter::kColumns ? 4 : 2),
        parts(llvm::divideCeil(tile.columns, kInGroup * width)) {
    Value inGroup = constantI64(b, kInGroup);
    group = b.create<arith::DivUIOp>(k.inBlock, inGroup);
    own = b.create<arith::RemUIOp>(k.inBlock, inGroup);
  }

  void emit() {
    if (hasAllDepth())
      fill(block.queries, places.queries, block.firstRow, constantI64(b, 0), true);
    k.gatherBlock(); // there may be no keys
    RunningState state;
    state.rows.assign(size_t(held), block.noScores());
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(vectorOf(width)));
    state.sums.assign(size_t(held * parts), zero);
    if (block.isPlain())
      state = walk(state, [&](Value key, RunningState &state) {
        SmallVector<Value> sums = scores(key, /*withValues=*/true);
        soften(state, sums, key);
        mix(state, sums, key);
      });
    else
      walkTwice(state);
    store(state);
  }

private:
  Type f32() { return b.getF32Type(); }
  VectorType vectorOf(int64_t lanes) { return VectorType::get({lanes}, f32()); }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }
  bool hasAllDepth() const { return s.d <= kMostDepth; }

  /// Rows of a thread: neighbours by four, and those of all groups behind each other.
  Value rowOf(int64_t row) {
    int64_t together = std::min(held, kFour);
    Value first = k.mul(group, constantI64(b, together));
    return plus(first, row / together * together * kGroups + row % together);
  }
  /// Keys lie in shared memory so that threads side by side read lines side by side.
  Value keyLine(int64_t number) { return plus(own, number * kInGroup); }
  Value lineOfKey(Value key) {
    Value four = constantI64(b, kFour);
    return k.add(k.mul(b.create<arith::RemUIOp>(key, four), constantI64(b, kInGroup)),
                 b.create<arith::DivUIOp>(key, four));
  }

  Value place(const Lines &lines, Value line, Value element) {
    Value at = k.add(k.mul(line, constantI64(b, lines.stride)), element);
    return k.mul(plus(at, lines.begin), constantI64(b, 4));
  }

  /// `isByLine`: a line of shared memory is one of the source; else it is a step.
  void fill(const TileSource &source, const Lines &into, Value line, Value step, bool isByLine) {
    auto store = [&](Value at, Value deep, Value chunk) {
      Value row = isByLine ? at : deep, element = isByLine ? deep : at;
      auto line = [&](Value row) { return &source == &block.keys ? lineOfKey(row) : row; };
      if (source.isDeepLast == isByLine)
        return k.storeShared(chunk, shared, place(into, line(row), element));
      for (int64_t i = 0; i < kFour; ++i)
        k.storeShared(b.create<vector::ExtractOp>(chunk, i), shared,
                      place(into, line(plus(row, i)), element));
    };
    block.fill(source, line, step, {store, {}});
  }
  void fillValues(Value key, int64_t part) {
    fill(block.values, places.values, plus(block.firstColumn, part * kValueColumns), key, false);
  }

  RunningState walk(const RunningState &state, function_ref<void(Value, RunningState &)> body) {
    auto list = block.overKeys(state.list(), [&](Value key, ValueRange carried) {
      RunningState next = RunningState::of(carried, size_t(held));
      body(key, next);
      k.gatherBlock();
      return next.list();
    });
    return RunningState::of(list, size_t(held));
  }

  /// Weights are computed from what the softmax gives.
  void walkTwice(RunningState &state) {
    state = walk(state, [&](Value key, RunningState &state) {
      SmallVector<Value> sums = scores(key, /*withValues=*/false);
      soften(state, sums, key);
    });
    SmallVector<Value> factors;
    for (RunningRow &row : state.rows)
      factors.push_back(block.inverse(block.sumOver(row.sum, kRowBits)));
    state = walk(state, [&](Value key, RunningState &state) {
      SmallVector<Value> sums = scores(key, /*withValues=*/true);
      SmallVector<AttentionBlock::Run> runs = runsOf(sums, key);
      block.score(runs);
      for (auto [i, run] : llvm::enumerate(runs))
        for (Value &number : run.numbers)
          number =
              b.create<arith::MulFOp>(block.powerOf(number, state.rows[i].largest), factors[i]);
      block.weigh(runs);
      takeRuns(runs, sums);
      mix(state, sums, key);
    });
  }

  /// [scores] Of the thread's rows with its keys of a tile: four sums for each row. Nobody reads keys any more.
  SmallVector<Value> scores(Value key, bool withValues) {
    if (withValues)
      fillValues(key, 0);
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(held * kFour), zero);
    return k.loop(constantI64(b, 0), constantI64(b, s.d), tile.keyDepth, sums,
                  [&](Value step, ValueRange carried) {
                    Value first = k.multipleOf(step, tile.keyDepth);
                    if (!hasAllDepth())
                      fill(block.queries, places.queries, block.firstRow, first, true);
                    fill(block.keys, places.keys, key, first, true);
                    k.gatherBlock();
                    Value from = hasAllDepth() ? first : constantI64(b, 0);
                    SmallVector<Value> next = multiply(from, carried);
                    k.gatherBlock();
                    return next;
                  });
  }

  SmallVector<Value> multiply(Value from, ValueRange sums) {
    return k.loop(constantI64(b, 0), constantI64(b, tile.keyDepth), kFour, sums,
                  [&](Value step, ValueRange carried) {
                    SmallVector<Value> next(carried), keys;
                    for (int64_t i = 0; i < kFour; ++i)
                      keys.push_back(k.loadShared(vectorOf(kFour), shared,
                                                  place(places.keys, keyLine(i), step)));
                    for (int64_t row = 0; row < held; ++row) {
                      Value query =
                          k.loadShared(vectorOf(kFour), shared,
                                       place(places.queries, rowOf(row), k.add(from, step)));
                      for (int64_t i = 0; i < kFour; ++i)
                        addDot(next[size_t(row * kFour + i)], query, keys[size_t(i)]);
                    }
                    return next;
                  });
  }

  void addDot(Value &sum, Value a, Value c) {
    for (int64_t i = 0; i < kFour; ++i)
      sum = b.create<math::FmaOp>(b.create<vector::ExtractOp>(a, i),
                                  b.create<vector::ExtractOp>(c, i), sum);
  }

  /// Four sums of each row.
  SmallVector<AttentionBlock::Run> runsOf(ArrayRef<Value> sums, Value key) {
    SmallVector<AttentionBlock::Run> runs;
    for (int64_t row = 0; row < held; ++row)
      runs.push_back({SmallVector<Value>(sums.slice(size_t(row * kFour), size_t(kFour))),
                      k.add(block.firstRow, rowOf(row)),
                      k.add(key, k.mul(own, constantI64(b, kFour)))});
    return runs;
  }

  void takeRuns(ArrayRef<AttentionBlock::Run> runs, MutableArrayRef<Value> sums) {
    for (auto [row, run] : llvm::enumerate(runs))
      llvm::copy(run.numbers, sums.begin() + int64_t(row) * kFour);
  }

  /// [softmax] Sums of products become powers.
  void soften(RunningState &state, MutableArrayRef<Value> sums, Value key) {
    SmallVector<AttentionBlock::Run> runs = runsOf(sums, key);
    block.score(runs);
    takeRuns(runs, sums);
    for (int64_t row = 0; row < held; ++row) {
      Value factor = block.add(state.rows[size_t(row)],
                               sums.slice(size_t(row * kFour), size_t(kFour)), kRowBits);
      scale(state, row, factor);
    }
  }

  void scale(RunningState &state, int64_t row, Value factor) {
    Value all = b.create<vector::SplatOp>(factor, vectorOf(width));
    for (int64_t part = 0; part < parts; ++part) {
      Value &sum = state.sums[size_t(row * parts + part)];
      sum = b.create<arith::MulFOp>(sum, all);
    }
  }

  /// [mix] Values of the first columns are in shared memory.
  void mix(RunningState &state, ArrayRef<Value> weights, Value key) {
    Value first = k.mul(own, constantI64(b, kFour));
    for (int64_t row = 0; row < held; ++row) {
      Value four = b.create<vector::FromElementsOp>(
          vectorOf(kFour), ValueRange(weights.slice(size_t(row * kFour), size_t(kFour))));
      k.storeShared(four, shared, place(places.weights, rowOf(row), first));
    }
    for (int64_t part = 0; part < parts; ++part) {
      if (part > 0) {
        k.gatherBlock();
        fillValues(key, part);
      }
      k.gatherBlock();
      multiplyValues(state, part);
    }
  }

  void multiplyValues(RunningState &state, int64_t part) {
    SmallVector<Value> sums;
    for (int64_t row = 0; row < held; ++row)
      sums.push_back(state.sums[size_t(row * parts + part)]);
    Value column = k.mul(own, constantI64(b, width));
    sums = k.loop(constantI64(b, 0), constantI64(b, tile.keys), kFour, ValueRange(sums),
                  [&](Value key, ValueRange carried) {
                    SmallVector<Value> next(carried), values;
                    for (int64_t i = 0; i < kFour; ++i)
                      values.push_back(k.loadShared(vectorOf(width), shared,
                                                    place(places.values, plus(key, i), column)));
                    for (int64_t row = 0; row < held; ++row) {
                      Value weights = k.loadShared(vectorOf(kFour), shared,
                                                   place(places.weights, rowOf(row), key));
                      for (int64_t i = 0; i < kFour; ++i) {
                        Value factor = b.create<vector::SplatOp>(
                            b.create<vector::ExtractOp>(weights, i), vectorOf(width));
                        next[size_t(row)] =
                            b.create<math::FmaOp>(factor, values[size_t(i)], next[size_t(row)]);
                      }
                    }
                    return next;
                  });
    for (int64_t row = 0; row < held; ++row)
      state.sums[size_t(row * parts + part)] = sums[size_t(row)];
  }

  /// [store] The last barrier of the walk is behind all reads.
  void store(RunningState &state) {
    for (int64_t row = 0; row < held; ++row) {
      if (block.isPlain())
        finish(state, row);
      for (int64_t part = 0; part < parts; ++part) {
        Value column = plus(k.mul(own, constantI64(b, width)), part * kValueColumns);
        k.storeShared(state.sums[size_t(row * parts + part)], shared,
                      block.results.place(rowOf(row), column));
      }
    }
    k.gatherBlock();
    block.store(shared);
  }

  void finish(RunningState &state, int64_t row) {
    RunningRow &running = state.rows[size_t(row)];
    running.sum = block.sumOver(running.sum, kRowBits);
    scale(state, row, block.finalFactor(running.sum));
    k.when(k.less(own, constantI64(b, 1)), [&] { block.leave(rowOf(row), running); });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  const AttentionShape &s;
  int64_t held; ///< rows of a thread
  AttentionTile tile;
  Places places;
  AttentionBlock block;
  Value shared;
  int64_t width, parts; ///< columns of a thread: so many neighbours, in so many parts
  Value group, own;     ///< the thread's group of rows, and its number there
};

} // namespace

int64_t rowsOfRealAttention(const AttentionShape &s) { return heldOf(s) * kGroups; }

void emitRealAttention(SimtKernel &k, const AttentionShape &s) {
  int64_t most = heldOf(s);
  Value shared = k.sharedBytes(std::max(placesOf(s, most).all, placesOf(s, kHeldOfFew).all));
  // [rows] Either way the grid is the same.
  Value isMany = k.less(constantI64(k.b, kHeldOfFew * kGroups), k.e.uniform(s.m));
  auto emitWith = [&](int64_t held) {
    RealEmitter(k, s, held, shared).emit();
    k.e.forget();
  };
  k.choose(
      isMany, [&] { emitWith(most); }, [&] { emitWith(kHeldOfFew); });
}

} // namespace weft
