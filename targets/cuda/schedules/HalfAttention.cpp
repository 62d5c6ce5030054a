//===- HalfAttention.cpp - Attention of f16 or bf16 by tensor cores -----------------------------------------===//
//
//   block: 64 queries of a head, 16 for each of four warps, each with all keys            [rows]
//     16 queries where there are no more: each warp has a quarter of the keys
//     where these are few blocks, several for the same queries, each with some keys
//     queries in shared memory
//     for 64 keys, or 128 for few queries
//       keys in shared memory; values are copied to it meanwhile                        [keys]
//       scores: 128 of d at once, 16 x 8 sums an instruction                              [scores]
//         or where the GPU can, and no mask wants neighbours, all of the block             [together]
//       the running softmax: a row lies in four threads, neighbouring keys in one         [softmax]
//       values in shared memory; the next keys are copied to it meanwhile               [values]
//       powers, rounded, are a fragment of the second product as they are               [mix]
//     warps with quarters of the keys agree on the largest score and the sum              [join]
//     sums over the sum of powers to shared memory, and out                               [store]
//
// The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/AttentionBlock.h"
#include "targets/cuda/FragmentTile.h"
#include "targets/cuda/GroupProduct.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWarps = kTileThreads / SimtMachine::kWarp, kMostDepth = 128;
/// Elements of a key and its value, so few that twice as many keys take no more room than those of others do. Few queries wait for memory: the more is on
/// its way, the better.
constexpr int64_t kLittle = 64;
/// Lines of 64 and 32 bytes, which all warps could multiply together, too, are too little to be worth it.
constexpr int64_t kShort = 32;
/// Threads that have a row's scores differ in these bits.
constexpr unsigned kRowBits[] = {1, 2};
/// Numbers of a warp's rows that others read.
constexpr int64_t kNumberBytes = 4 * kWarps * kMatrixRows;

AttentionTile tileOf(const AttentionShape &s, bool isBelow) {
  int64_t depth = std::min(roundUp(s.d, kMatrixSteps), kMostDepth),
          columns = AttentionBlock::columnsOf(s);
  AttentionTile tile = {kMatrixRows * (isBelow ? kWarps : 1), depth, depth, columns, columns};
  if (!isBelow && std::max(depth, columns) <= kLittle)
    tile.keys *= 2;
  return tile;
}

/// What lies in shared memory: operands, then sums in their place; numbers behind both.
struct Places {
  int64_t keys, values, sums, numbers, flag, all;
};

Places placesOf(const AttentionShape &s, bool isBelow) {
  AttentionTile tile = tileOf(s, isBelow);
  AttentionBlock::Sources sources = AttentionBlock::sourcesOf(s, tile);
  Places places;
  places.keys = FragmentTile::bytes(sources.queries);
  places.values = places.keys + FragmentTile::bytes(sources.keys);
  places.sums = 4 * tile.rows * tile.sumColumns();
  places.numbers = std::max(places.values + FragmentTile::bytes(sources.values),
                            places.sums * (isBelow ? 1 : kWarps));
  places.flag = places.numbers + (isBelow ? 0 : 2 * kNumberBytes);
  places.all = places.flag + 16;
  return places;
}

/// Emits the code of one thread.
class HalfEmitter {
public:
  HalfEmitter(SimtKernel &k, const AttentionShape &s, bool isBelow, Value shared)
      : k(k), b(k.b), s(s), isBelow(isBelow), tile(tileOf(s, isBelow)),
        places(placesOf(s, isBelow)),
        block(k, s, tile, TileElements::Halves, k.sharedPlace(shared, constantI64(b, places.flag))),
        shared(shared), heldKeys(isBelow ? tile.keys : tile.keys / kWarps), run(runOf(s)),
        queries(k, shared, 0, block.queries), keys(k, shared, places.keys, block.keys, run),
        values(k, shared, places.values, block.values, run),
        isTogether(k.machine.hasGroupProducts && isBelow && run == 2 &&
                   std::min(tile.depth, tile.columns) > kShort) {
    warp = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    Value four = constantI64(b, 4), zero = constantI64(b, 0);
    warpRow = isBelow ? times(warp, kMatrixRows) : zero;
    warpKey = isBelow ? zero : times(warp, heldKeys);
    group = b.create<arith::DivUIOp>(k.lane(), four);
    pair = times(b.create<arith::RemUIOp>(k.lane(), four), 2);
  }

  void emit() {
    if (hasAllDepth())
      fill(block.queries, queries, block.firstRow, constantI64(b, 0));
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    RunningState state;
    state.rows.assign(2, block.noScores());
    state.sums.assign(size_t(tile.columns / 2), zero);
    if (block.isPlain())
      state = walk(state, /*withValues=*/true,
                   [&](RunningState &state, MutableArrayRef<Value> sums, Value key) {
                     soften(state, sums, key);
                   });
    else
      walkTwice(state);
    store(state);
  }

private:
  Value times(Value a, int64_t c) { return k.mul(a, constantI64(b, c)); }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }
  bool hasAllDepth() const { return s.d <= kMostDepth; }
  /// Of copies that came, to all.
  void show() {
    if (isTogether)
      k.showToProducts();
    k.gatherBlock();
  }
  Type elementOf(const TileSource &source) {
    return cast<SymTensorType>(source.value.getType()).getElementType();
  }

  /// Neighbouring keys of a thread. Chunks of operands may hold none of them apart.
  int64_t runOf(const AttentionShape &s) {
    bool hasLines = block.keys.isDeepLast && !block.values.isDeepLast;
    return hasLines ? std::clamp<int64_t>(AttentionBlock::neighboursOf(s), 2, heldKeys / 4) : 2;
  }

  /// A group of copies.
  void fill(const TileSource &source, const FragmentTile &into, Value line, Value step) {
    block.fill(source, line, step, into.target());
    k.endCopies();
  }

  /// `weigh`: scores of a tile become what its values are multiplied by. A barrier is behind.
  RunningState walk(const RunningState &state, bool withValues,
                    function_ref<void(RunningState &, MutableArrayRef<Value>, Value key)> weigh) {
    if (hasAllDepth())
      k.when(k.less(block.firstKey, block.endOfKeys),
             [&] { fill(block.keys, keys, block.firstKey, constantI64(b, 0)); });
    auto list = block.overKeys(state.list(), [&](Value key, ValueRange carried) {
      RunningState next = RunningState::of(carried, 2);
      SmallVector<Value> sums = scores(key, withValues);
      weigh(next, sums, key);
      if (hasAllDepth())
        turn(key);
      if (withValues)
        mix(next.sums, sums);
      return next.list();
    });
    k.awaitCopies(0); // there may be no keys
    k.gatherBlock();
    return RunningState::of(list, 2);
  }

  /// [values] Nobody reads these keys any more.
  void turn(Value key) {
    k.awaitCopies(0);
    show();
    Value next = plus(key, tile.keys);
    k.when(k.less(next, block.endOfKeys), [&] { fill(block.keys, keys, next, constantI64(b, 0)); });
  }

  /// Weights are computed from what the softmax gives.
  void walkTwice(RunningState &state) {
    state = walk(state, /*withValues=*/false,
                 [&](RunningState &state, MutableArrayRef<Value> sums, Value key) {
                   soften(state, sums, key);
                 });
    SmallVector<Value> factors;
    for (RunningRow &row : state.rows)
      row.sum = block.sumOver(row.sum, kRowBits);
    join(state);
    for (RunningRow &row : state.rows)
      factors.push_back(block.inverse(row.sum));
    state =
        walk(state, /*withValues=*/true,
             [&](RunningState &state, MutableArrayRef<Value> sums, Value key) {
               SmallVector<AttentionBlock::Run> runs = runsOf(sums, key);
               block.score(runs);
               for (auto [i, run] : llvm::enumerate(runs))
                 for (Value &number : run.numbers)
                   number = b.create<arith::MulFOp>(
                       block.powerOf(number, state.rows[halfOf(i)].largest), factors[halfOf(i)]);
               block.weigh(runs);
               takeRuns(runs, sums);
             });
  }

  /// [scores] Of the warp's rows with its keys of a tile.
  SmallVector<Value> scores(Value key, bool withValues) {
    // [keys] Nobody reads any more what was there before.
    bool areTogether = !isBelow && hasAllDepth() && withValues; // on their way
    if (hasAllDepth() && !areTogether)
      k.awaitCopies(0);
    show();
    if (withValues)
      fill(block.values, values, block.firstColumn, key);
    if (areTogether) {
      k.awaitCopies(1);
      k.gatherBlock();
    }
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0)), none = constantI64(b, 0);
    SmallVector<Value> sums(size_t(heldKeys / kMatrix * 4), zero);
    if (hasAllDepth()) {
      multiply(sums);
      return sums;
    }
    return k.loop(none, constantI64(b, s.d), tile.depth, sums, [&](Value step, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value first = k.multipleOf(step, tile.depth);
      fill(block.queries, queries, block.firstRow, first);
      fill(block.keys, keys, key, first);
      k.awaitCopies(0);
      show();
      multiply(next);
      k.gatherBlock();
      return next;
    });
  }

  /// [together] Steps of 16, of the warp's 16 rows.
  GroupStep stepOf(ArrayRef<Value> left, const FragmentTile &right, int64_t step) {
    return {{SmallVector<Value>(left)}, right.described(step)};
  }

  void multiply(SmallVector<Value> &sums) {
    if (isTogether) {
      SmallVector<GroupStep> steps;
      for (int64_t step = 0; step < tile.depth; step += kMatrixSteps)
        steps.push_back(stepOf(queries.fragments(warpRow, constantI64(b, step), FragmentTile::Left),
                               keys, step));
      sums = multiplyAddGroup(k, elementOf(block.queries), steps, !block.keys.isDeepLast, sums);
      return;
    }
    for (int64_t step = 0; step < tile.depth; step += kMatrixSteps) {
      Value first = constantI64(b, step);
      SmallVector<Value> left = queries.fragments(warpRow, first, FragmentTile::Left);
      for (int64_t j = 0; j < heldKeys / kMatrix; j += 2) {
        SmallVector<Value> right =
            keys.fragments(plus(warpKey, j * kMatrix), first, FragmentTile::Right);
        for (int64_t half = 0; half < 2; ++half)
          multiplyAdd(k, elementOf(block.queries), left, ArrayRef(right).slice(size_t(2 * half), 2),
                      MutableArrayRef(sums).slice(size_t(j + half) * 4, 4));
      }
    }
  }

  /// Runs of sums, with the place of the first among the sums of a row: those of one half of the sixteen rows, then those of the other.
  size_t runsOfHalf() const { return size_t(heldKeys / kMatrix * 2 / run); }
  size_t halfOf(size_t number) const { return number / runsOfHalf(); }
  size_t placeOfSum(size_t number, size_t inRun) const {
    size_t matrix = number % runsOfHalf() * size_t(run) / 2 + inRun / 2;
    return matrix * 4 + halfOf(number) * 2 + inRun % 2;
  }

  SmallVector<AttentionBlock::Run> runsOf(ArrayRef<Value> sums, Value key) {
    SmallVector<AttentionBlock::Run> runs(2 * runsOfHalf());
    Value own = k.add(k.add(key, warpKey), times(pair, run / 2));
    for (auto [number, each] : llvm::enumerate(runs)) {
      each.row = rowOf(int64_t(halfOf(number)));
      each.firstKey = plus(own, int64_t(number % runsOfHalf()) * 4 * run);
      for (int64_t i = 0; i < run; ++i)
        each.numbers.push_back(sums[placeOfSum(number, size_t(i))]);
    }
    return runs;
  }

  void takeRuns(ArrayRef<AttentionBlock::Run> runs, MutableArrayRef<Value> sums) {
    for (auto [number, each] : llvm::enumerate(runs))
      for (auto [i, sum] : llvm::enumerate(each.numbers))
        sums[placeOfSum(number, i)] = sum;
  }

  Value rowOf(int64_t half) {
    return plus(k.add(k.add(block.firstRow, warpRow), group), half * kMatrix);
  }

  /// [softmax] Sums of products become powers.
  void soften(RunningState &state, MutableArrayRef<Value> sums, Value key) {
    SmallVector<AttentionBlock::Run> runs = runsOf(sums, key);
    block.score(runs);
    takeRuns(runs, sums);
    SmallVector<Value> ofRow[2];
    for (auto [i, sum] : llvm::enumerate(sums))
      ofRow[i % 4 / 2].push_back(sum);
    Value factors[2];
    for (size_t half = 0; half < 2; ++half)
      factors[half] = block.add(state.rows[half], ofRow[half], kRowBits);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = ofRow[i % 4 / 2][i / 4 * 2 + i % 2];
    scale(state.sums, factors);
  }

  /// Sums of either half of the rows.
  void scale(MutableArrayRef<Value> sums, ArrayRef<Value> factors) {
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = b.create<arith::MulFOp>(sum, factors[i % 4 / 2]);
  }

  /// [mix] Two neighbouring matrices of powers are the left side of 16 steps.
  void mix(MutableArrayRef<Value> sums, ArrayRef<Value> weights) {
    Type type = elementOf(block.values);
    SmallVector<GroupStep> steps;
    for (int64_t i = 0; i < heldKeys / kMatrixSteps; ++i) {
      SmallVector<Value> left;
      for (int64_t word = 0; word < 4; ++word) {
        ArrayRef<Value> two = weights.slice(size_t(8 * i + 2 * word), 2);
        left.push_back(packHalves(k, type, two[0], two[1]));
      }
      if (isTogether) {
        steps.push_back(stepOf(left, values, i * kMatrixSteps));
        continue;
      }
      for (int64_t j = 0; j < tile.columns / kMatrix; j += 2) {
        SmallVector<Value> right = values.fragments(
            constantI64(b, j * kMatrix), plus(warpKey, i * kMatrixSteps), FragmentTile::Right);
        for (int64_t half = 0; half < 2; ++half)
          multiplyAdd(k, type, left, ArrayRef(right).slice(size_t(2 * half), 2),
                      sums.slice(size_t(j + half) * 4, 4));
      }
    }
    if (isTogether)
      llvm::copy(multiplyAddGroup(k, type, steps, !block.values.isDeepLast, sums), sums.begin());
  }

  Value placeOfNumber(Value ofWarp, int64_t half, int64_t list) {
    Value at = k.add(times(ofWarp, kMatrixRows), plus(group, half * kMatrix));
    return plus(times(at, 4), places.numbers + list * kNumberBytes);
  }

  /// [join] Largest scores and sums of all warps become those of each. Returned: what a warp's own sums are multiplied by.
  SmallVector<Value> join(RunningState &state) {
    Value one = b.create<arith::ConstantOp>(b.getF32FloatAttr(1));
    if (isBelow)
      return {one, one};
    k.when(k.less(pair, constantI64(b, 1)), [&] {
      for (int64_t half = 0; half < 2; ++half) {
        k.storeShared(state.rows[half].largest, shared, placeOfNumber(warp, half, 0));
        k.storeShared(state.rows[half].sum, shared, placeOfNumber(warp, half, 1));
      }
    });
    k.gatherBlock();
    SmallVector<Value> factors;
    for (int64_t half = 0; half < 2; ++half) {
      RunningRow all = block.noScores();
      SmallVector<RunningRow> each;
      for (int64_t i = 0; i < kWarps; ++i) {
        Value number = constantI64(b, i);
        each.push_back({k.loadShared(b.getF32Type(), shared, placeOfNumber(number, half, 0)),
                        k.loadShared(b.getF32Type(), shared, placeOfNumber(number, half, 1))});
        all.largest = block.larger(all.largest, each.back().largest);
      }
      for (const RunningRow &row : each)
        all.sum = b.create<arith::AddFOp>(
            all.sum, b.create<arith::MulFOp>(row.sum, block.powerOf(row.largest, all.largest)));
      factors.push_back(block.powerOf(state.rows[half].largest, all.largest));
      state.rows[half] = all;
    }
    return factors;
  }

  /// [store]
  void store(RunningState &state) {
    if (block.isPlain()) {
      for (RunningRow &row : state.rows)
        row.sum = block.sumOver(row.sum, kRowBits);
      SmallVector<Value> factors = join(state);
      for (size_t half = 0; half < 2; ++half)
        factors[half] =
            b.create<arith::MulFOp>(factors[half], block.finalFactor(state.rows[half].sum));
      scale(state.sums, factors);
      leaveRows(state);
    }
    Value own = isBelow ? constantI64(b, 0) : times(warp, places.sums);
    for (int64_t j = 0; j < tile.columns / kMatrix; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        Value row = plus(k.add(warpRow, group), half * kMatrix), column = plus(pair, j * kMatrix);
        auto two = ArrayRef(state.sums).slice(size_t(j * 4 + half * 2), 2);
        Value neighbours = b.create<vector::FromElementsOp>(VectorType::get({2}, b.getF32Type()),
                                                            SmallVector<Value>(two));
        k.storeShared(neighbours, shared, k.add(own, block.results.place(row, column)));
      }
    if (isBelow)
      k.gatherBlock();
    else
      block.results.addParts(shared, kWarps);
    block.store(shared);
  }

  /// Of four threads, and where warps have the same rows of these, the first.
  void leaveRows(const RunningState &state) {
    Value first = constantI64(b, 1), number = isBelow ? pair : k.add(pair, warp);
    k.when(k.less(number, first), [&] {
      for (int64_t half = 0; half < 2; ++half)
        block.leave(plus(k.add(warpRow, group), half * kMatrix), state.rows[size_t(half)]);
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  const AttentionShape &s;
  bool isBelow; ///< warps have different rows, and else different keys
  AttentionTile tile;
  Places places;
  AttentionBlock block;
  Value shared;
  int64_t heldKeys, run; ///< of a warp, of a tile; and neighbours of a thread
  FragmentTile queries, keys, values;
  bool isTogether;              ///< the warps multiply all of a tile
  Value warp, warpRow, warpKey; ///< its number, and its first row and key of the tile
  Value group, pair;            ///< the thread's row and pair of columns of a matrix of sums
};

} // namespace

int64_t rowsOfHalfAttention() { return kMatrixRows * kWarps; }

void emitHalfAttention(SimtKernel &k, const AttentionShape &s) {
  constexpr int64_t swizzled = 1024; // how units that read it want it to begin
  Value shared = k.sharedBytes(std::max(placesOf(s, true).all, placesOf(s, false).all),
                               k.machine.hasGroupProducts ? swizzled : 16);
  // [rows] Either way the grid is the same.
  Value isMany = k.less(constantI64(k.b, kMatrixRows), k.e.uniform(s.m));
  auto emitWith = [&](bool isBelow) {
    HalfEmitter emitter(k, s, isBelow, shared);
    emitter.emit();
    k.e.forget();
  };
  k.choose(
      isMany, [&] { emitWith(true); }, [&] { emitWith(false); });
}

} // namespace weft
