//===- TileAttention.cpp - Attention in bf16 whose products are done by tiles ------------------------===//
//
//   give tiles their sizes; strips have 16 rows, or m if that is less          [configure]
//   for combination of the batch factors: batch and head                       [units]
//     K and V as pairs in scratch (AttentionScratch.h)                         [pack]
//     for strip of rows of Q; the last may begin among those before            [strips]
//       for panel of K: sums = strip * panel, tile by tile                     [scores]
//       for row that no strip had before: scores become weights in bf16        [softmax]
//       for two tiles of columns of e
//         for panel of V: sums += weights * panel                              [mix]
//         for row that no strip had before: epilogue and store                 [finish]
//
// Products take a small part of the time, so a strip is alone: what it reads is in the first-level
// cache.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/AttentionRows.h"
#include "targets/cpu/schedules/tile/TileStrips.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kStrip = TileUnit::kRows, kRowBytes = TileUnit::kRowBytes;
constexpr int64_t kPanelRow = 2 * kRowBytes; ///< bytes, also of a row of sums
constexpr int64_t kSumsBytes = kStrip * kPanelRow;
enum TileNumber : int64_t { kSums = 0, kRows = 4, kColumns = 6 }; // sums and columns are two each

Match<AttentionShape> match(func::FuncOp spec, const VectorMachine &machine) {
  Match<AttentionShape> s = AttentionShape::match(spec);
  if (s.decline().isOtherKind)
    return s;
  if (!TileStrips::fit(machine))
    return Decline::otherKind("the target has no unit for tiles");
  if (s && s->e == 0)
    return Decline{"the values have no columns"};
  if (s && (!AttentionScratch::multipliesHalves(s->scores) ||
            !AttentionScratch::multipliesHalves(s->mix)))
    return Decline{"what is multiplied is not bf16"};
  return s;
}

class Emitter {
public:
  Emitter(KernelContext &c, const AttentionShape &shape)
      : c(c), s(shape), plan(s, c.machine, /*tiles=*/true), unit(*c.machine.tiles()),
        sums(at(c.scratch, c.e.uniform(plan.size * int64_t(4)))),
        state(at(sums, number(kSumsBytes))), m(c.e.uniform(s.m)), strip(least(m, number(kStrip))) {}

  void emit() {
    configure();
    Value strips = c.e.uniform(SymExpr::ceildiv(s.m, kStrip));
    // [units] The last of the batch factors is innermost.
    c.loop(c.begin, c.end, 1, [&](Value nth) {
      batch = s.batchOf(c.e, nth);
      // [pack] Once for all strips.
      plan.packKeys(c, batch);
      plan.copyValues(c, batch);
      c.loop(number(0), strips, 1, [&](Value strip) { emitStrip(c.mul(strip, number(kStrip))); });
    });
    unit.release(c.b, state);
  }

private:
  /// [configure] Without rows there are no strips, but a tile has one at least.
  void configure() {
    Value rows = c.b.create<arith::MaxSIOp>(strip, number(1));
    SmallVector<TileUnit::Size, TileUnit::kTiles> sizes(TileUnit::kTiles,
                                                        {rows, TileUnit::kRowWords});
    for (int64_t half : {0, 1})
      sizes[kColumns + half] = {number(TileUnit::kRowWords), TileUnit::kRowWords};
    unit.configure(c.b, state, sizes);
  }

  /// [strips] Rows from `due` on are new.
  void emitStrip(Value due) {
    Value first = least(due, c.sub(m, strip));
    AttentionRows rows(c, s, plan, batch, first);
    plan.copyQueries(c, batch, first, strip);
    c.loop(number(0), c.e.uniform(plan.panels), 1,
           [&](Value panel) { multiplyKeys(rows, first, panel); });
    // [softmax] In place (AttentionRows.h).
    rows.softmax(c.sub(due, first), strip, [&](Value row, Value panel, int64_t v, bool whole) {
      return rows.storeScores(panel, row, v, rows.load(panel, row, v), whole);
    });
    for (int64_t column = 0; column < s.e; column += plan.columns) {
      int64_t vectors = std::min<int64_t>(2, llvm::divideCeil(s.e - column, c.machine.lanes()));
      multiplyValues(rows, column, vectors);
      // [finish] Two vectors of columns.
      c.loop(c.sub(due, first), strip, 1, [&](Value row) {
        for (int64_t v = 0; v < vectors; ++v)
          rows.finish(row, column + v * c.machine.lanes(), loadSums(row, v));
      });
    }
  }

  /// [scores]
  void multiplyKeys(const AttentionRows &rows, Value first, Value panel) {
    TileSource source = plan.scoreSource(c, batch, first, panel);
    for (int64_t half : {0, 1})
      unit.zero(c.b, state, kSums + half);
    for (int64_t word = 0; word < plan.depth; word += TileUnit::kRowWords)
      multiply(at(source.a, number(word * 4)), source.rowStride * 4,
               at(source.b, number(word * kPanelRow)), number(kPanelRow), 2);
    storeSums(rows.address(panel, number(0), 0), 2);
  }

  /// [mix] Weights lie in the first half of their panel's row.
  void multiplyValues(const AttentionRows &rows, int64_t column, int64_t vectors) {
    Value values = plan.valuesAt(c, batch, column), stride = c.mul(plan.valueStride(c), number(4)),
          panelBytes = c.mul(stride, number(TileUnit::kRowWords));
    for (int64_t half = 0; half < vectors; ++half)
      unit.zero(c.b, state, kSums + half);
    c.loop(number(0), c.e.uniform(plan.panels), 1, [&](Value panel) {
      multiply(rows.address(panel, number(0), 0), kPanelRow, at(values, c.mul(panel, panelBytes)),
               stride, vectors);
    });
    storeSums(sums, vectors);
  }

  /// A tile of rows by tiles of columns that lie side by side.
  void multiply(Value rows, int64_t rowBytes, Value columns, Value lineBytes, int64_t tiles) {
    unit.load(c.b, state, kRows, rows, number(rowBytes));
    for (int64_t half = 0; half < tiles; ++half) {
      unit.load(c.b, state, kColumns + half, at(columns, number(half * kRowBytes)), lineBytes);
      unit.multiplyHalves(c.b, state, {kSums + half, kRows, kColumns + half});
    }
  }

  void storeSums(Value place, int64_t tiles) {
    for (int64_t half = 0; half < tiles; ++half)
      unit.store(c.b, state, kSums + half, at(place, number(half * kRowBytes)), number(kPanelRow));
  }

  Value loadSums(Value row, int64_t v) {
    Value from = at(sums, c.add(c.mul(row, number(kPanelRow)), number(v * kRowBytes)));
    return c.b.create<LLVM::LoadOp>(VectorType::get({c.machine.lanes()}, c.b.getF32Type()), from,
                                    4);
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value at(Value base, Value bytes) { return elementPointer(c.b, base, c.b.getI8Type(), bytes); }
  Value least(Value a, Value d) { return c.b.create<arith::MinSIOp>(a, d); }

  KernelContext &c;
  const AttentionShape s;
  const AttentionScratch plan;
  const TileUnit &unit;
  const Value sums, state; ///< places in scratch
  const Value m, strip;    ///< rows: all, and those of a strip
  SmallVector<Value> batch;
};

class TileAttentionSchedule : public Schedule {
public:
  StringRef name() const override { return "tile_attention"; }
  LoopKind loops() const override { return LoopKind::Attention; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return match(spec, machine).decline();
  }
  Unit unit(func::FuncOp, const VectorMachine &) const override { return Unit::HalfTiles; }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    return {s.units(), SymExpr::constant(spec.getContext(), 1),
            AttentionScratch(s, machine, /*tiles=*/true).size * int64_t(4) +
                (kSumsBytes + machine.tiles()->stateBytes())};
  }

  void emit(KernelContext &c) const override { Emitter(c, *AttentionShape::match(c.spec)).emit(); }
};

} // namespace

const Schedule *tileAttentionSchedule() {
  static const TileAttentionSchedule schedule;
  return &schedule;
}

} // namespace weft
