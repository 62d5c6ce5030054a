//===- Attention.cpp - Softmax between two contractions, scores never in memory ---------------===//
//
//   for combination of the batch factors: batch and head                   [units]
//     K as panels [n / C][d][C] into scratch                               [pack keys]
//     V, where it cannot be read in place                                  [copy values]
//     for tile of rows of Q                                                [tiles]
//       the rows, where they cannot be read in place                       [copy queries]
//       for panel: scores = program(Q K^T), -infinity beyond n             [scores]
//       lines of the next tile's queries, if read in place               [fetch queries]
//       for row: scores become weights, 1 / their sum is kept              [softmax]
//       for two vectors of e
//         for panel: sums += scores * V, in registers; the last ends at n  [mix]
//         for row, vector: times what is kept, epilogue, masked store      [finish]
//
// C are two vectors. Scores of a tile are in scratch as [n / C][rows][C], and never leave it;
// "program" is what stands before the softmax. Pairs of bf16 are multiplied as they are where the
// machine does (AttentionScratch.h): weights are divided and rounded before the product then.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/AttentionRows.h"

using namespace mlir;

namespace weft {
namespace {

class AttentionSchedule : public Schedule {
public:
  StringRef name() const override { return "attention"; }
  LoopKind loops() const override { return LoopKind::Attention; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    auto s = AttentionShape::match(spec);
    return s && s->e == 0 ? Decline{"the values have no columns"} : s.decline();
  }

  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    AttentionScratch scratch(s, machine);
    return scratch.scorePairs && scratch.mixPairs ? Unit::HalfPairs : Unit::Reals;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    return {s.units(), SymExpr::constant(spec.getContext(), 1),
            AttentionScratch(s, machine).size * int64_t(4)};
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    std::vector<Choice> list;
    offerRows(list, AttentionShape::match(spec)->m, tileRows(machine), machine);
    return list;
  }

  void emit(KernelContext &c) const override {
    AttentionShape s = *AttentionShape::match(c.spec);
    SmallVector<func::FuncOp> tiles;
    AttentionScratch plan(s, c.machine);
    for (int64_t r = 1; r <= plan.rows; ++r)
      tiles.push_back(declareTile(c, r, s.batch.size()));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, plan.rows));
    // [units] The last of the factors is innermost.
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      SmallVector<Value> batch = s.batchOf(c.e, unit);
      // [pack keys] Once for all rows of queries.
      plan.packKeys(c, batch);
      // [copy values] All of a unit, too.
      plan.copyValues(c, batch);
      c.loop(constantI64(c.b, 0), count, 1, [&](Value tile) {
        // [tiles] A function for every number of rows.
        callRowTile(c, tiles, m, count, tile, [&](Value first) {
          SmallVector<Value> arguments{c.kernel.getArgument(0), c.scratch, first};
          arguments.append(batch);
          return arguments;
        });
      });
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  static func::FuncOp declareTile(KernelContext &c, int64_t rows, size_t batch) {
    Type i64 = c.b.getI64Type();
    SmallVector<Type> types{c.scratch.getType(), i64};
    types.append(batch, i64);
    return declareRowTile(c, rows, types);
  }

  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    emitRowTile(outer, tile, [&](KernelContext &c) {
      c.scratch = tile.getArgument(1);
      TileEmitter(c, *AttentionShape::match(c.spec), rows).emit();
    });
  }

  /// One tile of rows of one unit.
  struct TileEmitter {
    KernelContext &c;
    AttentionShape s;
    AttentionScratch plan;
    int64_t rows, columns, lanes;
    Value first;
    SmallVector<Value> batch;
    Type f32;
    VectorType vector;

    TileEmitter(KernelContext &c, const AttentionShape &shape, int64_t rows)
        : c(c), s(shape), plan(s, c.machine), rows(rows) {
      columns = tileColumns(c.machine);
      lanes = c.machine.lanes();
      first = c.kernel.getArgument(2);
      for (size_t i = 0; i < s.batch.size(); ++i)
        batch.push_back(c.kernel.getArgument(3 + i));
      f32 = c.b.getF32Type();
      vector = VectorType::get({lanes}, f32);
    }

    Value zeros() { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)); }

    void emit() {
      AttentionRows lines(c, s, plan, batch, first);
      Value panels = c.e.uniform(plan.panels);
      // [copy queries] Or not.
      plan.copyQueries(c, batch, first, constantI64(c.b, rows));
      c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) { emitScores(lines, panel); });
      // [fetch queries] Meanwhile; the rows of one head are far apart.
      plan.fetchQueries(c, batch, first, rows);
      // [softmax] Of all rows of the tile, in place (AttentionRows.h).
      lines.softmax(
          constantI64(c.b, 0), constantI64(c.b, rows),
          [&](Value row, Value panel, int64_t v, bool) { return lines.load(panel, row, v); });
      for (int64_t column = 0; column < s.e; column += columns)
        emitMix(lines, column, std::min<int64_t>(2, llvm::divideCeil(s.e - column, lanes)));
    }

    /// [scores] program(Q K^T) of one panel; lanes beyond n are minus infinity.
    void emitScores(const AttentionRows &lines, Value panel) {
      c.e.forget();
      SmallVector<Value> sums(rows * 2, zeros());
      multiplyAdd(c, plan.scoreSource(c, batch, first, panel), constantI64(c.b, plan.depth), 4,
                  sums, rows, 2);
      for (int64_t v = 0; v < 2; ++v) {
        for (int64_t r = 0; r < rows; ++r)
          lines.storeScores(panel, constantI64(c.b, r), v, sums[2 * r + v], /*whole=*/false);
        c.e.forget();
      }
    }

    /// [mix] Columns [column, column + vectors * lanes) of the result.
    void emitMix(const AttentionRows &lines, int64_t column, int64_t vectors) {
      Value n = c.e.uniform(s.n), zero = constantI64(c.b, 0);
      Value whole = c.e.uniform(SymExpr::floordiv(s.n, columns));
      Value stride = plan.valueStride(c), values = plan.valuesAt(c, batch, column);
      int64_t together = plan.mixPairs ? 2 : 1; // rows of V that one instruction multiplies
      SmallVector<Value> sums(rows * vectors, zeros());
      auto add = [&](Value panel, Value depth, SmallVectorImpl<Value> &sums) {
        Value row = c.mul(panel, constantI64(c.b, columns / together));
        TileSource source{lines.address(panel, zero, 0), columns,
                          elementPointer(c.b, values, f32, c.mul(row, stride)), stride};
        source.pairs = plan.mixPairs;
        Value steps = c.b.createOrFold<arith::CeilDivUIOp>(depth, constantI64(c.b, together));
        multiplyAdd(c, source, steps, 4, sums, rows, vectors);
      };
      sums = c.loop(zero, whole, 1, ValueRange(sums), [&](Value panel, ValueRange carried) {
        SmallVector<Value> next(carried);
        add(panel, constantI64(c.b, columns), next);
        return next;
      });
      add(whole, c.sub(n, c.mul(whole, constantI64(c.b, columns))), sums);
      for (int64_t r = 0; r < rows; ++r) {
        // [finish] Weights that are not divided yet make sums that are not.
        std::optional<Value> factor = lines.factor(constantI64(c.b, r));
        for (int64_t v = 0; v < vectors; ++v) {
          Value sum = sums[r * vectors + v];
          lines.finish(constantI64(c.b, r), column + v * lanes,
                       factor ? Value(c.b.create<arith::MulFOp>(sum, *factor)) : sum);
        }
      }
    }
  };
};

} // namespace

const Schedule *attentionSchedule() {
  static const AttentionSchedule schedule;
  return &schedule;
}

} // namespace weft
