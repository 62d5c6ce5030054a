//===- Attention.cpp - Softmax between two contractions, scores never in memory ---------------===//
//
//   for combination of the batch factors: batch and head                   [units]
//     copy K into panels [n / C][d][C] of scratch                          [pack keys]
//     copy V, where it cannot be read in place                             [copy values]
//     for tile of rows of Q                                                [tiles]
//       copy them, where they cannot be read in place                      [copy queries]
//       for panel: scores = program(Q K^T), -infinity beyond n             [scores]
//       for row: scores become e^(score - largest); 1 / their sum is kept  [softmax]
//         what stands between softmax and product, if anything, in place   [between]
//       for two vectors of e
//         for panel: sums += scores * V, in registers; the last ends at n  [mix]
//         for row, vector: times what is kept, epilogue, masked store      [finish]
//
// C are two vectors. Scores of a tile are in scratch as [n / C][rows][C], and never leave it;
// "program" is what stands before the softmax. Rows of Q and V are read where they are; where they
// are views or narrow, they are copied.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/match/AttentionShape.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

int64_t roundUp(int64_t value, int64_t to) { return llvm::divideCeil(value, to) * to; }

/// What a unit keeps in its scratch, in f32 elements: keys [n / C][d][C], scores [n / C][rows][C],
/// then copies of V [n][e] and of a tile's Q [rows][d] where they cannot be read in place, rows
/// padded to whole vectors.
struct ScratchPlan {
  SymExpr panels, scores, values, queries, size; ///< where parts begin
  bool copiesValues, copiesQueries;
  int64_t valueStride, queryStride;
  int64_t rows; ///< of a tile, at most

  ScratchPlan(const AttentionShape &s, const VectorMachine &machine) {
    copiesValues = !s.v.isInPlace() || s.e % machine.lanes();
    copiesQueries = !s.q.isInPlace() || !s.q.rowStride().asConstant();
    rows = pick(s.mix, "rows", tileRows(machine));
    valueStride = roundUp(s.e, machine.lanes());
    queryStride = roundUp(s.d, machine.lanes());
    panels = SymExpr::ceildiv(s.n, tileColumns(machine));
    scores = panels * (tileColumns(machine) * s.d);
    values = scores + panels * (tileColumns(machine) * rows);
    queries = copiesValues ? values + s.n * valueStride : values;
    size = copiesQueries ? queries + rows * queryStride : queries;
  }
};

/// Swaps rows and columns of a square of vectors.
void transposeSquare(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t step = 1; step < lanes; step *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes; ++l) {
      low.push_back(l & step ? lanes + l - step : l);
      high.push_back(l & step ? lanes + l : l + step);
    }
    for (int64_t i = 0; i < lanes; ++i)
      if (!(i & step)) {
        Value a = rows[i], c = rows[i + step];
        rows[i] = b.create<vector::ShuffleOp>(a, c, low);
        rows[i + step] = b.create<vector::ShuffleOp>(a, c, high);
      }
  }
}

class AttentionSchedule : public Schedule {
public:
  StringRef name() const override { return "attention"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    auto s = AttentionShape::match(spec);
    return s && s->e == 0 ? Decline{"the values have no columns"} : s.decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    AttentionShape s = *AttentionShape::match(spec);
    SymExpr units = SymExpr::constant(spec.getContext(), 1);
    for (SymExpr extent : s.batch)
      units = units * extent;
    return {units, SymExpr::constant(spec.getContext(), 1),
            ScratchPlan(s, machine).size * int64_t(4)};
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    std::vector<Choice> list;
    offerRows(list, AttentionShape::match(spec)->m, tileRows(machine), machine);
    return list;
  }

  void emit(KernelContext &c) const override {
    AttentionShape s = *AttentionShape::match(c.spec);
    SmallVector<func::FuncOp> tiles;
    ScratchPlan plan(s, c.machine);
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
      packKeys(c, s, batch);
      // [copy values] Rows in whole vectors, zeros behind them: the mix then has no masks.
      if (plan.copiesValues)
        copyRows(c, s.v, batch, constantI64(c.b, 0), c.e.uniform(s.n), plan.values,
                 plan.valueStride, s.e);
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
  static Value pointerTo(KernelContext &c, const AttentionOperand &operand, ArrayRef<Value> batch,
                         Value row) {
    auto argument = cast<BlockArgument>(operand.stored());
    SmallVector<IndexValue> index =
        operand.storedIndex(c.e, operand.index(batch, {row}, c.e.constant(0)));
    IndexValue at = c.e.linear(cast<SymTensorType>(argument.getType()), index);
    Value base = c.inputs[argument.getArgNumber()];
    return elementPointer(c.b, base, c.b.getF32Type(), at.base);
  }

  static func::FuncOp declareTile(KernelContext &c, int64_t rows, size_t batch) {
    Type i64 = c.b.getI64Type();
    SmallVector<Type> types{c.scratch.getType(), i64};
    types.append(batch, i64);
    return declareRowTile(c, rows, types);
  }

  /// Columns [first, first + lanes) of a row, those from `limit` on zero.
  static Value pullColumns(KernelContext &c, const AttentionOperand &operand, ArrayRef<Value> batch,
                           Value row, Value first, bool whole, int64_t limit) {
    IndexValue column{first, 1};
    c.e.setTailMask(whole ? Value() : c.e.less(column, c.e.constant(limit)));
    Value x = c.e.pull(operand.tensor, operand.index(batch, {row}, column));
    if (!whole)
      x = c.b.create<arith::SelectOp>(c.e.less(column, c.e.constant(limit)), x,
                                      c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0)));
    c.e.setTailMask({});
    return x;
  }

  /// For every vector of [0, width): `body(first, whole)`.
  static void eachVector(KernelContext &c, int64_t width, function_ref<void(Value, bool)> body) {
    int64_t lanes = c.machine.lanes(), whole = width / lanes * lanes;
    c.e.forget();
    c.loop(constantI64(c.b, 0), constantI64(c.b, whole), lanes, [&](Value first) {
      body(first, true);
      c.e.forget();
    });
    if (whole < width)
      body(constantI64(c.b, whole), false);
    c.e.forget();
  }

  /// `count` rows from `first` on to scratch at `to`, `stride` elements apart.
  static void copyRows(KernelContext &c, const AttentionOperand &operand, ArrayRef<Value> batch,
                       Value first, Value count, SymExpr to, int64_t stride, int64_t width) {
    Type f32 = c.b.getF32Type();
    Value base = elementPointer(c.b, c.scratch, f32, c.e.uniform(to));
    c.loop(constantI64(c.b, 0), count, 1, [&](Value row) {
      Value target = elementPointer(c.b, base, f32, c.mul(row, constantI64(c.b, stride))),
            from = c.add(first, row);
      eachVector(c, width, [&](Value column, bool whole) {
        c.b.create<LLVM::StoreOp>(pullColumns(c, operand, batch, from, column, whole, width),
                                  elementPointer(c.b, target, f32, column), 4);
      });
    });
  }

  /// [pack keys] K of one unit as panels [n / C][d][C], a square of vectors at a time. Columns
  /// beyond n repeat the last row.
  static void packKeys(KernelContext &c, const AttentionShape &s, ArrayRef<Value> batch) {
    int64_t lanes = c.machine.lanes(), columns = tileColumns(c.machine);
    Type f32 = c.b.getF32Type();
    Value last = c.e.uniform(s.n - 1),
          halves = c.e.uniform(SymExpr::ceildiv(s.n, columns) * int64_t(2));
    c.loop(constantI64(c.b, 0), halves, 1, [&](Value half) {
      Value panel = c.b.create<arith::DivUIOp>(half, constantI64(c.b, 2)),
            odd = c.b.create<arith::RemUIOp>(half, constantI64(c.b, 2));
      Value at =
          c.add(c.mul(panel, constantI64(c.b, columns * s.d)), c.mul(odd, constantI64(c.b, lanes)));
      Value to = elementPointer(c.b, c.scratch, f32, at),
            first = c.mul(half, constantI64(c.b, lanes));
      eachVector(c, s.d, [&](Value depth, bool whole) {
        SmallVector<Value> square;
        for (int64_t i = 0; i < lanes; ++i) {
          Value row = c.b.create<arith::MinSIOp>(c.add(first, constantI64(c.b, i)), last);
          square.push_back(pullColumns(c, s.k, batch, row, depth, whole, s.d));
        }
        transposeSquare(c.b, square);
        for (int64_t i = 0, rest = s.d % lanes; i < (whole ? lanes : rest); ++i) {
          Value line = c.mul(c.add(depth, constantI64(c.b, i)), constantI64(c.b, columns));
          c.b.create<LLVM::StoreOp>(square[i], elementPointer(c.b, to, f32, line), 4);
        }
      });
    });
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
    ScratchPlan plan;
    int64_t rows, columns, lanes;
    Value first, tileScores;
    SmallVector<Value> batch;
    Type f32;
    VectorType vector;

    TileEmitter(KernelContext &c, const AttentionShape &shape, int64_t rows)
        : c(c), s(shape), plan(shape, c.machine), rows(rows) {
      columns = tileColumns(c.machine);
      lanes = c.machine.lanes();
      first = c.kernel.getArgument(2);
      for (size_t i = 0; i < s.batch.size(); ++i)
        batch.push_back(c.kernel.getArgument(3 + i));
      f32 = c.b.getF32Type();
      vector = VectorType::get({lanes}, f32);
      tileScores = elementPointer(c.b, c.scratch, f32, c.e.uniform(plan.scores));
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
      // [copy queries] Their distance is then constant: one base register for all rows.
      if (plan.copiesQueries)
        copyRows(c, s.q, batch, first, constantI64(c.b, rows), plan.queries, plan.queryStride, s.d);
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
      Value keys =
          elementPointer(c.b, c.scratch, f32, c.mul(panel, constantI64(c.b, columns * s.d)));
      SmallVector<Value> sums(rows * 2, zeros());
      TileSource source =
          plan.copiesQueries
              ? TileSource{elementPointer(c.b, c.scratch, f32, c.e.uniform(plan.queries)),
                           plan.queryStride, keys, constantI64(c.b, columns)}
              : TileSource{pointerTo(c, s.q, batch, first), *s.q.rowStride().asConstant(), keys,
                           constantI64(c.b, columns)};
      multiplyAdd(c, source, constantI64(c.b, s.d), 4, sums, rows, 2);
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
      if (s.weights == s.softmax.getResult())
        return factor;
      emitAfter(panels, row, c.e.splat(factor));
      return one;
    }

    /// [between] What stands between the softmax and the product with V, in place. Scores are
    /// divided by their sum before it.
    void emitAfter(Value panels, Value row, Value factor) {
      c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) {
        for (int64_t v = 0; v < 2; ++v) {
          c.e.forget();
          IndexValue n{c.add(c.mul(panel, constantI64(c.b, columns)), constantI64(c.b, v * lanes)),
                       1};
          Value address = scoreAddress(panel, row, v);
          Value x = c.b.create<arith::MulFOp>(c.b.create<LLVM::LoadOp>(vector, address, 4), factor);
          c.e.provide(s.softmax.getResult(), [&](ArrayRef<IndexValue>) { return x; });
          c.e.setTailMask(c.e.less(n, c.e.symbolic(s.n)));
          c.b.create<LLVM::StoreOp>(
              c.e.pull(s.weights, s.line.index(batch, {c.add(first, row)}, n)), address, 4);
          c.e.setTailMask({});
        }
        c.e.forget();
      });
    }

    /// [mix] Columns [column, column + vectors * lanes) of the result.
    void emitMix(int64_t column, int64_t vectors, Value factors) {
      Value n = c.e.uniform(s.n), zero = constantI64(c.b, 0);
      Value whole = c.e.uniform(SymExpr::floordiv(s.n, columns));
      Value stride =
          plan.copiesValues ? constantI64(c.b, plan.valueStride) : c.e.uniform(s.v.rowStride());
      Value values = plan.copiesValues
                         ? elementPointer(c.b, c.scratch, f32, c.e.uniform(plan.values))
                         : pointerTo(c, s.v, batch, zero);
      values = elementPointer(c.b, values, f32, constantI64(c.b, column));
      SmallVector<Value> sums(rows * vectors, zeros());
      auto add = [&](Value panel, Value depth, SmallVectorImpl<Value> &sums) {
        Value from = elementPointer(c.b, values, f32,
                                    c.mul(c.mul(panel, constantI64(c.b, columns)), stride));
        multiplyAdd(c, {scoreAddress(panel, zero, 0), columns, from, stride}, depth, 4, sums, rows,
                    vectors);
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
