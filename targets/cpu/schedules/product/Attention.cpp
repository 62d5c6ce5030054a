//===- Attention.cpp - Softmax between two contractions, scores never in memory ---------------===//
//
//   for combination of the batch factors: batch and head                   [units]
//     K as panels [n / C][d][C] into scratch                               [pack keys]
//     V, where it cannot be read in place                                  [copy values]
//     for tile of rows of Q                                                [tiles]
//       the rows, where they cannot be read in place                       [copy queries]
//       for panel: scores = program(Q K^T), -infinity beyond n             [scores]
//       for row: scores become e^(score - largest); 1 / their sum is kept  [softmax]
//         what stands between softmax and product, if anything, in place   [between]
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
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/AttentionScratch.h"

using namespace mlir;

namespace weft {
namespace {

class AttentionSchedule : public Schedule {
public:
  StringRef name() const override { return "attention"; }

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
    SymExpr units = SymExpr::constant(spec.getContext(), 1);
    for (SymExpr extent : s.batch)
      units = units * extent;
    return {units, SymExpr::constant(spec.getContext(), 1),
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
      SmallVector<Value> batch(s.batch.size());
      IndexValue rest{unit};
      for (size_t i = s.batch.size(); i-- > 1;) {
        auto [quotient, remainder] = c.e.divmod(rest, c.e.symbolic(s.batch[i]));
        batch[i] = remainder.base;
        rest = quotient;
      }
      if (!batch.empty())
        batch[0] = rest.base;
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
    Value first, tileScores;
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
      tileScores = plan.scoresAt(c);
    }

    Value zeros() { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)); }

    /// Scores of row r, vector v of a panel.
    Value scoreAddress(Value panel, Value row, int64_t v) {
      Value at = c.add(c.mul(panel, constantI64(c.b, plan.rows * columns)),
                       c.mul(row, constantI64(c.b, columns)));
      return elementPointer(c.b, tileScores, f32, c.add(at, constantI64(c.b, v * lanes)));
    }

    void emit() {
      Value panels = c.e.uniform(plan.panels);
      // [copy queries] Or not.
      plan.copyQueries(c, batch, first, rows);
      c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) { emitScores(panel); });
      auto sumsType = c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), f32,
                                                 constantI64(c.b, rows), 4);
      c.loop(constantI64(c.b, 0), constantI64(c.b, rows), 1, [&](Value row) {
        Value factor = emitSoftmax(panels, row);
        c.b.create<LLVM::StoreOp>(factor, elementPointer(c.b, sumsType, f32, row), 4);
      });
      for (int64_t column = 0; column < s.e; column += columns)
        emitMix(column, std::min<int64_t>(2, llvm::divideCeil(s.e - column, lanes)), sumsType);
    }

    /// [scores] program(Q K^T) of one panel; lanes beyond n are minus infinity.
    void emitScores(Value panel) {
      c.e.forget();
      SmallVector<Value> sums(rows * 2, zeros());
      multiplyAdd(c, plan.scoreSource(c, batch, first, panel), constantI64(c.b, plan.depth), 4,
                  sums, rows, 2);
      Value lowest = c.e.constantData(f32, combinerIdentity(Combiner::Max, f32));
      for (int64_t v = 0; v < 2; ++v) {
        IndexValue n{c.add(c.mul(panel, constantI64(c.b, columns)), constantI64(c.b, v * lanes)),
                     1};
        Value inside = c.e.less(n, c.e.symbolic(s.n));
        c.e.setTailMask(inside);
        for (int64_t r = 0; r < rows; ++r) {
          Value sum = sums[2 * r + v];
          c.e.provide(s.scores.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
          SmallVector<IndexValue> index =
              s.line.index(batch, {c.add(first, constantI64(c.b, r))}, n);
          Value x =
              c.b.create<arith::SelectOp>(inside, c.e.pull(s.softmax.getInput(), index), lowest);
          c.b.create<LLVM::StoreOp>(x, scoreAddress(panel, constantI64(c.b, r), v), 4);
        }
        c.e.setTailMask({});
        c.e.forget();
      }
    }

    /// Where one is nan, either: the sum of powers tells.
    Value larger(Value a, Value b) {
      return c.b.create<arith::SelectOp>(c.b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, a, b),
                                         a, b);
    }

    /// [softmax] Replaces the scores of a row by e^(score - largest); gives one over their sum.
    Value emitSoftmax(Value panels, Value row) {
      Value lowest = c.e.constantData(f32, combinerIdentity(Combiner::Max, f32));
      auto load = [&](Value panel, int64_t v) -> Value {
        return c.b.create<LLVM::LoadOp>(vector, scoreAddress(panel, row, v), 4);
      };
      Value zero = constantI64(c.b, 0);
      SmallVector<Value> largest =
          c.loop(zero, panels, 1, ValueRange{lowest, lowest}, [&](Value panel, ValueRange carried) {
            SmallVector<Value> next;
            for (int64_t v = 0; v < 2; ++v)
              next.push_back(larger(carried[v], load(panel, v)));
            return next;
          });
      Value shift =
          c.e.splat(combineLanes(c.b, Combiner::Max, f32, larger(largest[0], largest[1])));
      SmallVector<Value> sums = c.loop(
          zero, panels, 1, ValueRange{zeros(), zeros()}, [&](Value panel, ValueRange carried) {
            SmallVector<Value> next;
            for (int64_t v = 0; v < 2; ++v) {
              Value power = c.b.create<math::ExpOp>(
                  c.b.create<arith::SubFOp>(load(panel, v), shift).getResult());
              c.b.create<LLVM::StoreOp>(power, scoreAddress(panel, row, v), 4);
              next.push_back(c.b.create<arith::AddFOp>(carried[v], power));
            }
            return next;
          });
      Value sum =
          combineLanes(c.b, Combiner::Sum, f32, c.b.create<arith::AddFOp>(sums[0], sums[1]));
      Value one = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(1)),
            nothing = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(0));
      Value empty = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, panels,
                                              zero); // a sum over nothing is 0
      Value factor =
          c.b.create<arith::SelectOp>(empty, nothing, c.b.create<arith::DivFOp>(one, sum));
      if (s.weights == s.softmax.getResult() && !plan.mixPairs)
        return factor;
      emitBetween(panels, row, c.e.splat(factor));
      return one;
    }

    /// [between] What stands between the softmax and the product with V, in place, or in the first
    /// half of it. Scores are divided by their sum before it.
    void emitBetween(Value panels, Value row, Value factor) {
      c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) {
        for (int64_t v = 0; v < 2; ++v) {
          c.e.forget();
          IndexValue n{c.add(c.mul(panel, constantI64(c.b, columns)), constantI64(c.b, v * lanes)),
                       1};
          Value score = c.b.create<LLVM::LoadOp>(vector, scoreAddress(panel, row, v), 4);
          Value x = c.b.create<arith::MulFOp>(score, factor);
          c.e.provide(s.softmax.getResult(), [&](ArrayRef<IndexValue>) { return x; });
          c.e.setTailMask(c.e.less(n, c.e.symbolic(s.n)));
          SmallVector<IndexValue> index = s.line.index(batch, {c.add(first, row)}, n);
          if (plan.mixPairs)
            plan.storeWeights(c, index, scoreAddress(panel, row, 0), v);
          else
            c.b.create<LLVM::StoreOp>(c.e.pull(s.weights, index), scoreAddress(panel, row, v), 4);
          c.e.setTailMask({});
        }
        c.e.forget();
      });
      if (plan.mixPairs)
        plan.endWeights(c, [&](Value panel) { return scoreAddress(panel, row, 0); });
    }

    /// [mix] Columns [column, column + vectors * lanes) of the result.
    void emitMix(int64_t column, int64_t vectors, Value factors) {
      Value n = c.e.uniform(s.n), zero = constantI64(c.b, 0);
      Value whole = c.e.uniform(SymExpr::floordiv(s.n, columns));
      Value stride = plan.valueStride(c), values = plan.valuesAt(c, batch, column);
      int64_t together = plan.mixPairs ? 2 : 1; // rows of V that one instruction multiplies
      SmallVector<Value> sums(rows * vectors, zeros());
      auto add = [&](Value panel, Value depth, SmallVectorImpl<Value> &sums) {
        Value row = c.mul(panel, constantI64(c.b, columns / together));
        TileSource source{scoreAddress(panel, zero, 0), columns,
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
        Value factor = c.e.splat(c.b.create<LLVM::LoadOp>(
            f32, elementPointer(c.b, factors, f32, constantI64(c.b, r)), 4));
        for (int64_t v = 0; v < vectors; ++v)
          finish(constantI64(c.b, r), column + v * lanes,
                 c.b.create<arith::MulFOp>(sums[r * vectors + v], factor));
      }
    }

    /// [finish] Only the vector in which e ends has a mask.
    void finish(Value row, int64_t column, Value x) {
      c.e.forget();
      IndexValue e{constantI64(c.b, column), 1};
      if (column + lanes > s.e)
        c.e.setTailMask(c.e.less(e, c.e.constant(s.e)));
      SmallVector<IndexValue> index = s.out.index(batch, {c.add(first, row)}, e);
      c.e.provide(s.mix.getResult(), [&](ArrayRef<IndexValue>) { return x; });
      c.storeResults(index);
      c.e.setTailMask({});
      c.e.forget();
    }
  };
};

} // namespace

const Schedule *attentionSchedule() {
  static const AttentionSchedule schedule;
  return &schedule;
}

} // namespace weft
