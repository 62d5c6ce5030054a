//===- TileStrips.cpp - Strips of 16 rows, two by two tiles of sums -----------------------------===//
//
//   give tiles their sizes; strips have 16 rows, or m if that is less          [configure]
//   for block of rows, panel of 32 columns                                     [units]
//     for chunk of the panel's k, which stays in the first-level cache         [chunks]
//       for pair of strips in the block; the last of all may be a single one   [pairs]
//         sums = 0, or those of the chunk before                               [begin sums]
//         for step of 16 words: sums += strips * panel, tile by tile           [steps]
//           for some rows of the pair before: epilogue and store               [store]
//         and a step of the words left over                                    [tail]
//         park the sums until the next chunk, or leave them to what follows    [park]
//   give the tiles back; rows of the last pair                                 [release]
//
// What follows from sums keeps the vector units busy, which have nothing to do with the products. So
// it is done between those of the next pair, which may be one of the next panel: what it has to know
// of the pair before lies in scratch.
//
// Sums lie in scratch as [rows][32 columns]. Those that wait for the next chunk are many; those that
// are stored have a place of their own, which therefore stays near. It begins a strip in front of
// the pair's first row, because the last strip of all may.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/TileStrips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/match/RowsAlone.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kStrip = TileUnit::kRows, kPair = 2 * kStrip;
constexpr int64_t kStepWords = TileUnit::kRowWords;
constexpr int64_t kPanelRow = 2 * TileUnit::kRowBytes; ///< bytes, also of a row of sums
constexpr int64_t kStripBytes = kStrip * kPanelRow, kPairBytes = 2 * kStripBytes;
constexpr int64_t kDueBytes = 64;   ///< of what is known of rows to be stored
constexpr int64_t kChunkSteps = 16; ///< 32 KiB of a panel: rows only pass through beside them
constexpr int64_t kLeastPairs = 2, kMostPairs = 8; ///< of a block: parked sums take 32 KiB
constexpr int64_t kPairsOfMany = 16; ///< the same where weights come from far for every block
constexpr int64_t kGrainWork = 4096; ///< rows times steps, of two cycles, that are worth a thread
constexpr int64_t kNearBytes = 24 << 10; ///< half of the first-level cache
constexpr int64_t kBlockBytes = 1 << 20; ///< of rows that are read again for every panel

} // namespace

bool TileStrips::fit(const VectorMachine &machine) {
  return machine.tiles() && tileColumns(machine) * 4 == kPanelRow;
}

int64_t TileStrips::panels() const { return llvm::divideCeil(n(), kPanelRow / 4); }

/// A pair whose rows stay in the first-level cache while all panels pass: its results are written as they lie in memory.
bool TileStrips::rowsStay() const { return kPair * words * 4 <= kNearBytes && !isFar(); }

/// Whether the second-level cache does not keep the weights, beside rows, from one block to the next.
bool TileStrips::isFar() const { return panels() * words * kPanelRow > kBlockBytes; }

/// Few panels leave more blocks to share.
int64_t TileStrips::estimatePairs() const {
  if (rowsStay())
    return 1;
  int64_t most = std::clamp<int64_t>(panels(), kLeastPairs, isFar() ? kPairsOfMany : kMostPairs);
  return std::clamp<int64_t>(kBlockBytes / (kPair * words * 4), 1, most);
}

int64_t TileStrips::pairsOfBlock() const {
  return pick(root.getDefiningOp(), "block", estimatePairs());
}

int64_t TileStrips::steps() const { return std::max<int64_t>(1, words / kStepWords); }

int64_t TileStrips::chunks() const {
  return llvm::divideCeil(steps(), pick(root.getDefiningOp(), "chunk", kChunkSteps));
}

void TileStrips::offer(std::vector<Choice> &list) const {
  weft::offer(list, "chunk", {8, 12, 24, 32}, kChunkSteps,
              [&](int64_t chunk) { return int64_t(llvm::divideCeil(steps(), chunk)); });
  std::optional<int64_t> all = SymExpr::ceildiv(m(), kPair).asConstant();
  weft::offer(list, "block", {1, 2, 4, 8, 16}, estimatePairs(),
              [&](int64_t pairs) { return all ? std::min(pairs, *all) : pairs; });
}

Launch TileStrips::launch(const VectorMachine &machine) const {
  auto constant = [&](int64_t value) { return SymExpr::constant(root.getContext(), value); };
  int64_t parked = chunks() > 1 ? pairsOfBlock() : 0, block = kPair * pairsOfBlock();
  SymExpr rows = SymExpr::max(SymExpr::min(m(), constant(block)), constant(kStrip)),
          grain = SymExpr::floordiv(constant(kGrainWork), rows * steps());
  return {SymExpr::ceildiv(m(), block) * panels(), SymExpr::max(grain, constant(1)),
          constant(kStripBytes + (1 + parked) * kPairBytes + kDueBytes +
                   machine.tiles()->stateBytes())};
}

std::optional<RowTiles> TileStrips::rowTiles(func::FuncOp spec, unsigned argument) const {
  return rowsAlone(spec, argument, m(), kPair * pairsOfBlock());
}

class TileStrips::Emitter {
public:
  Emitter(KernelContext &c, const TileStrips &strips, Value rows, Value weights)
      : c(c), p(strips), unit(*c.machine.tiles()), rows(rows), weights(weights),
        ready(at(c.scratch, number(kStripBytes))), parked(at(ready, number(kPairBytes))),
        due(at(parked, number(p.chunks() > 1 ? p.pairsOfBlock() * kPairBytes : 0))),
        state(at(due, number(kDueBytes))), m(c.e.uniform(p.m())), strip(least(m, number(kStrip))) {}

  void emit() {
    configure();
    remember({number(0), number(0), number(0), number(0)});
    // [units] Of neighbours, all panels meet the same rows.
    Value pairs = ceilDiv(m, kPair), blocks = ceilDiv(pairs, p.pairsOfBlock());
    c.loop(c.begin, c.end, 1, [&](Value nth) {
      panel = c.b.create<arith::RemUIOp>(nth, number(p.panels()));
      Value block = c.b.create<arith::DivUIOp>(nth, number(p.panels()));
      emitUnit(rowsOfTile(c, pairs, blocks, block));
    });
    // [release] Threads change places faster without them.
    unit.release(c.b, state);
    storeRows(number(kPair));
  }

private:
  /// Two strips, or one alone.
  struct Pair {
    Value first; ///< row of the result
    int64_t strips = 2;
    Value begin[2];            ///< rows that strips begin with
    Value parked[2], ready[2]; ///< places for their sums
  };
  /// Rows [from, end) of a pair that begins with `first`, whose sums at `panel` are ready.
  struct Due {
    Value from, end, first, panel;
  };
  /// Steps [from, to) of a panel.
  struct Chunk {
    Value from, to, isFirst, isLast;
  };
  /// Of tiles for strips and for halves of a panel's row, which may take turns in one.
  struct Numbers {
    int64_t strips[2], halves[2];
  };

  int64_t tailWords() const { return p.words > kStepWords ? p.words % kStepWords : 0; }
  Numbers wholeTiles() const {
    return tailWords() ? Numbers{{4, 4}, {6, 6}} : Numbers{{4, 5}, {6, 7}};
  }
  static Numbers tailTiles() { return {{5, 5}, {7, 7}}; }
  static int64_t sumsOf(int64_t strip, int64_t half) { return 2 * strip + half; }

  /// [configure] Tiles of the tail have numbers of their own: other sizes would cost the sums.
  void configure() {
    SmallVector<TileUnit::Size, TileUnit::kTiles> sizes(TileUnit::kTiles, {strip, kStepWords});
    auto give = [&](const Numbers &tiles, int64_t words) {
      for (int64_t i = 0; i < 2; ++i) {
        sizes[tiles.strips[i]] = {strip, words};
        sizes[tiles.halves[i]] = {number(words), kStepWords};
      }
    };
    give(wholeTiles(), std::min(p.words, kStepWords));
    if (tailWords())
      give(tailTiles(), tailWords());
    unit.configure(c.b, state, sizes);
  }

  /// [chunks] A single pair has its sums in tiles all the time: nobody reads the panel after it.
  void emitUnit(const RowRange &pairs) {
    Value one = number(1), zero = number(0);
    if (p.chunks() == 1)
      return emitPairs(pairs, {zero, number(p.steps()), Value(), Value()});
    Value alone = isEqual(pairs.size, one),
          count = c.b.create<arith::SelectOp>(alone, one, number(p.chunks()));
    auto begin = [&](Value nth) -> Value {
      Value steps = c.mul(nth, number(p.steps())),
            share = c.b.create<arith::DivUIOp>(steps, number(p.chunks()));
      return c.b.create<arith::SelectOp>(alone, steps, share);
    };
    c.loop(zero, count, 1, [&](Value nth) {
      Value next = c.add(nth, one);
      emitPairs(pairs, {begin(nth), begin(next), isEqual(nth, zero), isEqual(next, count)});
    });
  }

  /// [pairs] A strip that would end behind the last row begins earlier.
  void emitPairs(const RowRange &pairs, const Chunk &chunk) {
    c.loop(number(0), pairs.size, 1, [&](Value nth) {
      Pair pair;
      pair.first = c.mul(c.add(pairs.first, nth), number(kPair));
      Value waiting = at(parked, c.mul(nth, number(kPairBytes))), lastStrip = c.sub(m, strip),
            second = c.add(pair.first, number(kStrip));
      for (int64_t s = 0; s < 2; ++s) {
        pair.begin[s] = least(s ? second : pair.first, lastStrip);
        pair.parked[s] = at(waiting, number(s * kStripBytes));
        pair.ready[s] = at(ready, c.mul(c.sub(pair.begin[s], pair.first), number(kPanelRow)));
      }
      auto multiply = [&](int64_t strips) {
        pair.strips = strips;
        emitSums(pair, chunk);
      };
      Value hasSecond = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, second, m);
      c.choose(
          hasSecond, [&] { multiply(2); }, [&] { multiply(1); });
      whenLast(chunk, [&] {
        remember({pair.first, least(c.add(pair.first, number(kPair)), m), pair.first, panel});
      });
    });
  }

  /// What is done with the last chunk only, and with all others.
  void whenLast(
      const Chunk &chunk, function_ref<void()> body, function_ref<void()> otherwise = [] {}) {
    chunk.isLast ? c.choose(chunk.isLast, body, otherwise) : body();
  }

  void emitSums(const Pair &pair, const Chunk &chunk) {
    auto everySum = [&](const Value *places, function_ref<void(int64_t tile, Value place)> body) {
      for (int64_t s = 0; s < pair.strips; ++s)
        for (int64_t half = 0; half < 2; ++half)
          body(sumsOf(s, half), at(places[s], number(half * TileUnit::kRowBytes)));
    };
    auto put = [&](const Value *places) {
      everySum(places, [&](int64_t tile, Value place) {
        unit.store(c.b, state, tile, place, number(kPanelRow));
      });
    };
    auto zero = [&] {
      everySum(pair.ready, [&](int64_t tile, Value) { unit.zero(c.b, state, tile); });
    };
    auto resume = [&] {
      everySum(pair.parked, [&](int64_t tile, Value place) {
        unit.load(c.b, state, tile, place, number(kPanelRow));
      });
    };
    // [begin sums] What waits in memory has lost nothing: chunks change no result.
    chunk.isFirst ? c.choose(chunk.isFirst, zero, resume) : zero();
    // [steps] Those of any chunk are enough to store all rows of the pair before.
    int64_t perStep = llvm::divideCeil(kPair, p.steps() / p.chunks());
    c.loop(chunk.from, chunk.to, 1, [&](Value nth) {
      step(pair, nth, wholeTiles());
      storeRows(number(perStep));
    });
    // [tail] Its tiles have fewer words.
    if (tailWords())
      whenLast(chunk, [&] { step(pair, number(p.steps()), tailTiles()); });
    // [park] Else they are ready.
    whenLast(
        chunk, [&] { put(pair.ready); }, [&] { put(pair.parked); });
  }

  /// The rows of a pair pass by, and the panel is read again by the next one. A single strip is the
  /// last that reads the panel.
  void step(const Pair &pair, Value nth, const Numbers &tiles) {
    using Reuse = TileUnit::Reuse;
    Value word = c.mul(nth, number(kStepWords)), depth = c.add(c.mul(panel, number(p.words)), word),
          columns = at(weights, c.mul(depth, number(kPanelRow)));
    bool rowsPass = pair.strips == 2 && p.pairsOfBlock() > 1;
    auto loadStrip = [&](int64_t s) {
      Value first = c.mul(pair.begin[s], number(p.words));
      unit.load(c.b, state, tiles.strips[s], at(rows, c.mul(c.add(first, word), number(4))),
                number(p.words * 4), rowsPass ? Reuse::Late : Reuse::Soon);
    };
    auto loadHalf = [&](int64_t half) {
      unit.load(c.b, state, tiles.halves[half], at(columns, number(half * TileUnit::kRowBytes)),
                number(kPanelRow), rowsPass ? Reuse::Soon : Reuse::Late);
    };
    auto multiply = [&](int64_t s, int64_t half) {
      p.multiply(c.b, unit, state, {sumsOf(s, half), tiles.strips[s], tiles.halves[half]});
    };
    loadStrip(0);
    for (int64_t half = 0; half < 2; ++half) {
      loadHalf(half);
      multiply(0, half);
    }
    if (pair.strips == 1)
      return;
    loadStrip(1);
    multiply(1, 1);
    if (tiles.halves[0] == tiles.halves[1])
      loadHalf(0);
    multiply(1, 0);
  }

  Value placeOfDue(int64_t nth) { return at(due, number(8 * nth)); }
  void remember(const Due &rows) {
    const Value values[] = {rows.from, rows.end, rows.first, rows.panel};
    for (auto [nth, value] : llvm::enumerate(values))
      c.b.create<LLVM::StoreOp>(value, placeOfDue(nth), 8);
  }
  Due remembered() {
    auto load = [&](int64_t nth) -> Value {
      return c.b.create<LLVM::LoadOp>(c.b.getI64Type(), placeOfDue(nth), 8);
    };
    return {load(0), load(1), load(2), load(3)};
  }

  /// [store] So many of the rows that are due. Those that a strip has in common with the one before
  /// are not among them: what is added to them may lie where they went.
  void storeRows(Value count) {
    Due rows = remembered();
    Value to = least(c.add(rows.from, count), rows.end);
    auto vector = VectorType::get({c.machine.lanes()}, p.type().getElementType());
    c.loop(rows.from, to, 1, [&](Value row) {
      c.e.forget();
      Value from = at(ready, c.mul(c.sub(row, rows.first), number(kPanelRow)));
      SmallVector<Value> sums;
      for (int64_t half = 0; half < 2; ++half)
        sums.push_back(
            c.b.create<LLVM::LoadOp>(vector, at(from, number(half * TileUnit::kRowBytes)), 4));
      storeRowTile(c, p.root, row, {rows.panel, 2, tileColumns(c.machine)}, p.n(), sums);
    });
    c.b.create<LLVM::StoreOp>(to, placeOfDue(0), 8);
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value at(Value base, Value bytes) { return elementPointer(c.b, base, c.b.getI8Type(), bytes); }
  Value least(Value a, Value d) { return c.b.create<arith::MinSIOp>(a, d); }
  Value ceilDiv(Value a, int64_t d) {
    return c.b.create<arith::DivUIOp>(c.add(a, number(d - 1)), number(d));
  }
  Value isEqual(Value a, Value d) {
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, a, d);
  }

  KernelContext &c;
  const TileStrips &p;
  const TileUnit &unit;
  const Value rows, weights;
  const Value ready, parked, due, state; ///< places in scratch
  const Value m, strip;                  ///< rows: all, and those of a strip
  Value panel;
};

void TileStrips::emit(KernelContext &c, Value rows, Value weights) const {
  Emitter(c, *this, rows, weights).emit();
}

} // namespace weft
