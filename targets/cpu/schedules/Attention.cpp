//===- Attention.cpp - Softmax between two contractions, scores never in memory ------------------------------===//
//
//   out[b, m, e] = sum over n of softmax over n (program(sum over d of Q[b, m, d] * K[b, n, d])) * V[b, n, e]
//
// `program` is whatever elementwise operators stand between: scale, mask, bias. A unit is one combination of the batch factors b (batch and
// head). It copies K once into panels [n / C][d][C] of scratch; then, for every tile of rows: scores of the tile into scratch
// [n / C][rows][C] through the program, softmax along n without the division, product with V in registers, division, epilogue.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/Schedule.h"

using namespace mlir;

namespace weft {
namespace {

/// Positions of a tensor's dimensions: batch factors, and the two others.
struct Operand {
  Value tensor;                ///< argument of the specification
  SmallVector<unsigned> batch; ///< dimension of each batch factor
  unsigned row, column;        ///< dimension of (m, d), (n, d), (n, e) or (m, e)
};

struct Shape {
  ContractOp scores, mix;
  SoftmaxOp softmax;
  Operand q, k, v, out, line; ///< line: the softmax's (m, n)
  SmallVector<SymExpr> batch;
  SymExpr m, n;
  int64_t d, e;
};

SymTensorType tensorOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Dimension of `factor` in the accesses, or nothing.
std::optional<unsigned> find(ArrayRef<Access> accesses, unsigned factor) {
  for (auto [d, access] : llvm::enumerate(accesses))
    if (access.kind == AccessKind::Point && access.factor() == factor)
      return d;
  return std::nullopt;
}

bool allPoints(const IterationRule &rule) {
  auto points = [](ArrayRef<Access> accesses) { return llvm::all_of(accesses, [](const Access &a) { return a.kind == AccessKind::Point; }); };
  return points(rule.operand(0)) && points(rule.operand(1)) && points(rule.result(0));
}

/// Whether nothing but dimension `last` follows with stride 1: its elements are contiguous.
bool isInnermost(const Operand &operand) { return operand.column + 1 == tensorOf(operand.tensor).getRank(); }

/// Matches the operators of a specification against the form above.
class Matcher {
public:
  explicit Matcher(func::FuncOp spec) : spec(spec) {}

  std::optional<Shape> run() {
    for (Operation &op : spec.getBody().front())
      if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
        if (s.softmax)
          return std::nullopt;
        s.softmax = softmax;
      }
    if (!s.softmax || s.softmax.getLogarithm() || !s.softmax->hasOneUse())
      return std::nullopt;
    s.mix = dyn_cast<ContractOp>(*s.softmax->user_begin());
    for (Operation &op : spec.getBody().front())
      if (auto contract = dyn_cast<ContractOp>(op); contract && contract != s.mix) {
        if (s.scores)
          return std::nullopt;
        s.scores = contract;
      }
    if (!s.mix || !s.scores || s.scores.getType() != s.softmax.getType() || !matchScores() || !matchMix())
      return std::nullopt;
    for (Type type : spec.getResultTypes())
      if (cast<SymTensorType>(type).getDimAttributes() != tensorOf(s.mix.getResult()).getDimAttributes())
        return std::nullopt;
    for (const Operand *operand : {&s.q, &s.k, &s.v})
      if (!isa<BlockArgument>(operand->tensor) || !tensorOf(operand->tensor).getElementType().isF32() || !isInnermost(*operand))
        return std::nullopt;
    return isInnermost(s.out) ? std::optional(s) : std::nullopt;
  }

private:
  bool matchScores() {
    IterationRule rule = IterationRule::of(s.scores);
    if (!allPoints(rule) || rule.reducedFactors().size() != 1)
      return false;
    unsigned depth = rule.reducedFactors()[0], n = rule.result(0).back().factor();
    // K has the softmax's factor; Q has the other
    unsigned kOperand = find(rule.operand(1), n) ? 1 : 0;
    if (!find(rule.operand(kOperand), n) || find(rule.operand(1 - kOperand), n))
      return false;
    s.k.tensor = s.scores->getOperand(kOperand);
    s.q.tensor = s.scores->getOperand(1 - kOperand);
    std::optional<unsigned> m;
    for (auto [d, access] : llvm::enumerate(rule.result(0).drop_back())) {
      unsigned factor = access.factor();
      auto inQ = find(rule.operand(1 - kOperand), factor), inK = find(rule.operand(kOperand), factor);
      if (inQ && inK) {
        s.batch.push_back(rule.factors()[factor].extent);
        batchOfLine.push_back(d);
        s.line.batch.push_back(d);
        s.q.batch.push_back(*inQ);
        s.k.batch.push_back(*inK);
      } else if (inQ && !m) {
        m = d;
        s.q.row = *inQ;
        s.m = rule.factors()[factor].extent;
      } else {
        return false;
      }
    }
    auto dSize = rule.factors()[depth].extent.asConstant();
    if (!m || !dSize || *dSize < 1)
      return false;
    s.line.row = *m;
    s.line.column = rule.result(0).size() - 1;
    s.n = rule.factors()[n].extent;
    s.d = *dSize;
    s.k.row = *find(rule.operand(kOperand), n);
    s.q.column = *find(rule.operand(1 - kOperand), depth);
    s.k.column = *find(rule.operand(kOperand), depth);
    return true;
  }

  bool matchMix() {
    IterationRule rule = IterationRule::of(s.mix);
    if (!allPoints(rule) || rule.reducedFactors().size() != 1 || !s.mix.getAccumulate().isF32())
      return false;
    unsigned p = s.mix.getLhs() == s.softmax.getResult() ? 0 : 1;
    s.v.tensor = s.mix->getOperand(1 - p);
    ArrayRef<Access> line = rule.operand(p), values = rule.operand(1 - p), result = rule.result(0);
    if (s.v.tensor == s.softmax.getResult() || line[s.line.column].factor() != rule.reducedFactors()[0])
      return false;
    auto n = find(values, line[s.line.column].factor()), m = find(result, line[s.line.row].factor());
    if (!n || !m || find(values, line[s.line.row].factor()))
      return false;
    s.v.row = *n;
    s.out.row = *m;
    s.out.tensor = s.mix.getResult();
    for (unsigned d : batchOfLine) {
      auto inV = find(values, line[d].factor()), inOut = find(result, line[d].factor());
      if (!inV || !inOut)
        return false;
      s.v.batch.push_back(*inV);
      s.out.batch.push_back(*inOut);
    }
    if (result.size() != batchOfLine.size() + 2 || values.size() != batchOfLine.size() + 2)
      return false;
    for (auto [d, access] : llvm::enumerate(result))
      if (d != s.out.row && !llvm::is_contained(s.out.batch, d)) {
        auto eSize = rule.factors()[access.factor()].extent.asConstant();
        auto inV = find(values, access.factor());
        if (!eSize || !inV)
          return false;
        s.out.column = d;
        s.v.column = *inV;
        s.e = *eSize;
      }
    return true;
  }

  func::FuncOp spec;
  Shape s;
  SmallVector<unsigned> batchOfLine;
};

class AttentionSchedule : public Schedule {
public:
  StringRef name() const override { return "attention"; }

  bool accepts(func::FuncOp spec, const VectorIsa &isa) const override {
    auto s = Matcher(spec).run();
    return s && s->e % isa.lanes == 0 && s->e > 0 && rowStride(s->q).has_value();
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Matcher(spec).run();
    SymExpr units = SymExpr::constant(spec.getContext(), 1);
    for (SymExpr extent : s.batch)
      units = units * extent;
    SymExpr panels = SymExpr::ceildiv(s.n, tileColumns(isa));
    return {units, SymExpr::constant(spec.getContext(), 1), panels * (tileColumns(isa) * 4 * (s.d + tileRows(isa)))};
  }

  void emit(KernelContext &c) const override {
    Shape s = *Matcher(c.spec).run();
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= tileRows(c.isa); ++r)
      tiles.push_back(declareTile(c, r, s.batch.size()));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, tileRows(c.isa)));
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
      c.loop(constantI64(c.b, 0), count, 1, [&](Value tile) {
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
  /// Distance between rows in elements, when constant.
  static std::optional<int64_t> rowStride(const Operand &operand) {
    SymTensorType type = tensorOf(operand.tensor);
    int64_t stride = 1;
    for (unsigned d = operand.row + 1; d < type.getRank(); ++d) {
      auto size = type.getDim(d).asConstant();
      if (!size)
        return std::nullopt;
      stride *= *size;
    }
    return stride;
  }

  static SmallVector<IndexValue> indexOf(const Operand &operand, ArrayRef<Value> batch, IndexValue row, IndexValue column) {
    SmallVector<IndexValue> index(batch.size() + 2);
    for (auto [value, d] : llvm::zip(batch, operand.batch))
      index[d] = {value};
    index[operand.row] = row;
    index[operand.column] = column;
    return index;
  }

  static Value pointerTo(KernelContext &c, const Operand &operand, ArrayRef<Value> batch, Value row) {
    IndexValue at = c.e.linear(tensorOf(operand.tensor), indexOf(operand, batch, {row}, c.e.constant(0)));
    Value base = c.inputs[cast<BlockArgument>(operand.tensor).getArgNumber()];
    return elementPointer(c.b, base, c.b.getF32Type(), at.base);
  }

  static func::FuncOp declareTile(KernelContext &c, int64_t rows, size_t batch) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPoint(c.kernel);
    Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
    SmallVector<Type> types{pointer, pointer, i64};
    types.append(batch, i64);
    auto tile = c.b.create<func::FuncOp>((c.kernel.getName() + "_rows" + Twine(rows)).str(), c.b.getFunctionType(types, {}));
    tile.setPrivate();
    return tile;
  }

  /// K of one unit as panels [n / C][d][C], columns beyond n zero.
  static void packKeys(KernelContext &c, const Shape &s, ArrayRef<Value> batch) {
    int64_t columns = tileColumns(c.isa);
    Type f32 = c.b.getF32Type();
    Value n = c.e.uniform(s.n), padded = c.e.uniform(SymExpr::ceildiv(s.n, columns) * columns);
    Value zero = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(0));
    c.loop(constantI64(c.b, 0), padded, 1, [&](Value row) {
      Value panel = c.b.create<arith::DivUIOp>(row, constantI64(c.b, columns)), lane = c.b.create<arith::RemUIOp>(row, constantI64(c.b, columns));
      Value to = elementPointer(c.b, c.scratch, f32, c.add(c.mul(panel, constantI64(c.b, columns * s.d)), lane));
      Value inside = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row, n);
      Value from = pointerTo(c, s.k, batch, c.b.create<arith::SelectOp>(inside, row, constantI64(c.b, 0)));
      c.loop(constantI64(c.b, 0), constantI64(c.b, s.d), 1, [&](Value i) {
        Value x = c.b.create<LLVM::LoadOp>(f32, elementPointer(c.b, from, f32, i), 4);
        x = c.b.create<arith::SelectOp>(inside, x, zero);
        c.b.create<LLVM::StoreOp>(x, elementPointer(c.b, to, f32, c.mul(i, constantI64(c.b, columns))), 4);
      });
    });
  }

  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(tile.addEntryBlock());
    ElementEmitter e(outer.b, outer.isa.lanes, tile.getArgument(0));
    KernelContext c{outer.b, outer.spec, tile, e, outer.isa, {}, {}, tile.getArgument(1), {}, {}};
    bindWords(c, tile.getArgument(0));
    TileEmitter(c, *Matcher(c.spec).run(), rows).emit();
    c.b.create<func::ReturnOp>();
  }

  /// One tile of rows of one unit.
  struct TileEmitter {
    KernelContext &c;
    Shape s;
    int64_t rows, columns, lanes;
    Value first, tileScores;
    SmallVector<Value> batch;
    Type f32;
    VectorType vector;

    TileEmitter(KernelContext &c, Shape shape, int64_t rows) : c(c), s(shape), rows(rows) {
      columns = tileColumns(c.isa);
      lanes = c.isa.lanes;
      first = c.kernel.getArgument(2);
      for (size_t i = 0; i < s.batch.size(); ++i)
        batch.push_back(c.kernel.getArgument(3 + i));
      f32 = c.b.getF32Type();
      vector = VectorType::get({lanes}, f32);
      Value keys = c.e.uniform(SymExpr::ceildiv(s.n, columns) * (columns * s.d));
      tileScores = elementPointer(c.b, c.scratch, f32, keys);
    }

    Value zeros() { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)); }

    /// Scores of row r, vector v of a panel.
    Value scoreAddress(Value panel, Value row, int64_t v) {
      Value at = c.add(c.mul(panel, constantI64(c.b, tileRows(c.isa) * columns)), c.mul(row, constantI64(c.b, columns)));
      return elementPointer(c.b, tileScores, f32, c.add(at, constantI64(c.b, v * lanes)));
    }

    void emit() {
      Value panels = c.e.uniform(SymExpr::ceildiv(s.n, columns));
      c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) { emitScores(panel); });
      auto sumsType = c.b.create<LLVM::AllocaOp>(LLVM::LLVMPointerType::get(c.b.getContext()), f32, constantI64(c.b, rows), 4);
      c.loop(constantI64(c.b, 0), constantI64(c.b, rows), 1, [&](Value row) {
        Value factor = emitSoftmax(panels, row);
        c.b.create<LLVM::StoreOp>(factor, elementPointer(c.b, sumsType, f32, row), 4);
      });
      for (int64_t column = 0; column < s.e; column += columns)
        emitMix(column, std::min<int64_t>(2, (s.e - column) / lanes), sumsType);
    }

    /// program(Q K^T) of one panel; lanes beyond n are minus infinity.
    void emitScores(Value panel) {
      c.e.forget();
      Value keys = elementPointer(c.b, c.scratch, f32, c.mul(panel, constantI64(c.b, columns * s.d)));
      SmallVector<Value> sums(rows * 2, zeros());
      TileSource source{pointerTo(c, s.q, batch, first), *rowStride(s.q), keys, constantI64(c.b, columns)};
      multiplyAdd(c, source, constantI64(c.b, s.d), 4, sums, rows, 2);
      Value lowest = c.e.constantData(f32, combinerIdentity(Combiner::Max, f32));
      for (int64_t v = 0; v < 2; ++v) {
        IndexValue n{c.add(c.mul(panel, constantI64(c.b, columns)), constantI64(c.b, v * lanes)), 1};
        Value inside = c.e.less(n, c.e.symbolic(s.n));
        c.e.setTailMask(inside);
        for (int64_t r = 0; r < rows; ++r) {
          Value sum = sums[2 * r + v];
          c.e.provide(s.scores.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
          SmallVector<IndexValue> index = indexOf(s.line, batch, {c.add(first, constantI64(c.b, r))}, n);
          Value x = c.b.create<arith::SelectOp>(inside, c.e.pull(s.softmax.getInput(), index), lowest);
          c.b.create<LLVM::StoreOp>(x, scoreAddress(panel, constantI64(c.b, r), v), 4);
        }
        c.e.setTailMask({});
        c.e.forget();
      }
    }

    Value reduceLanes(vector::CombiningKind kind, Value x) { return c.b.create<vector::ReductionOp>(kind, x); }

    /// Replaces the scores of a row by e^(score - largest); gives one over their sum.
    Value emitSoftmax(Value panels, Value row) {
      Value lowest = c.e.constantData(f32, combinerIdentity(Combiner::Max, f32));
      auto load = [&](Value panel, int64_t v) -> Value { return c.b.create<LLVM::LoadOp>(vector, scoreAddress(panel, row, v), 4); };
      Value zero = constantI64(c.b, 0);
      SmallVector<Value> largest = c.loop(zero, panels, 1, ValueRange{lowest, lowest}, [&](Value panel, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t v = 0; v < 2; ++v)
          next.push_back(c.b.create<arith::MaximumFOp>(carried[v], load(panel, v)));
        return next;
      });
      Value both = c.b.create<arith::MaximumFOp>(largest[0], largest[1]);
      Value shift = c.e.splat(reduceLanes(vector::CombiningKind::MAXIMUMF, both));
      SmallVector<Value> sums = c.loop(zero, panels, 1, ValueRange{zeros(), zeros()}, [&](Value panel, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t v = 0; v < 2; ++v) {
          Value power = c.b.create<math::ExpOp>(c.b.create<arith::SubFOp>(load(panel, v), shift).getResult());
          c.b.create<LLVM::StoreOp>(power, scoreAddress(panel, row, v), 4);
          next.push_back(c.b.create<arith::AddFOp>(carried[v], power));
        }
        return next;
      });
      Value sum = c.b.create<vector::ReductionOp>(vector::CombiningKind::ADD, c.b.create<arith::AddFOp>(sums[0], sums[1]));
      Value one = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(1)), nothing = c.b.create<arith::ConstantOp>(c.b.getF32FloatAttr(0));
      Value empty = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, panels, zero); // a sum over nothing is 0
      return c.b.create<arith::SelectOp>(empty, nothing, c.b.create<arith::DivFOp>(one, sum));
    }

    /// Columns [column, column + vectors * lanes) of the result.
    void emitMix(int64_t column, int64_t vectors, Value factors) {
      Value n = c.e.uniform(s.n), zero = constantI64(c.b, 0);
      Value whole = c.e.uniform(SymExpr::floordiv(s.n, columns)), stride = valueStride();
      Value values = elementPointer(c.b, pointerTo(c, s.v, batch, zero), f32, constantI64(c.b, column));
      SmallVector<Value> sums(rows * vectors, zeros());
      auto add = [&](Value panel, Value depth, SmallVectorImpl<Value> &sums) {
        Value from = elementPointer(c.b, values, f32, c.mul(c.mul(panel, constantI64(c.b, columns)), stride));
        multiplyAdd(c, {scoreAddress(panel, zero, 0), columns, from, stride}, depth, 4, sums, rows, vectors);
      };
      sums = c.loop(zero, whole, 1, ValueRange(sums), [&](Value panel, ValueRange carried) {
        SmallVector<Value> next(carried);
        add(panel, constantI64(c.b, columns), next);
        return next;
      });
      add(whole, c.sub(n, c.mul(whole, constantI64(c.b, columns))), sums);
      for (int64_t r = 0; r < rows; ++r) {
        Value factor = c.e.splat(c.b.create<LLVM::LoadOp>(f32, elementPointer(c.b, factors, f32, constantI64(c.b, r)), 4));
        for (int64_t v = 0; v < vectors; ++v)
          finish(constantI64(c.b, r), column + v * lanes, c.b.create<arith::MulFOp>(sums[r * vectors + v], factor));
      }
    }

    /// Elements between rows of V.
    Value valueStride() {
      SymTensorType type = tensorOf(s.v.tensor);
      SymExpr stride = SymExpr::constant(c.b.getContext(), 1);
      for (unsigned d = s.v.row + 1; d < type.getRank(); ++d)
        stride = stride * type.getDim(d);
      return c.e.uniform(stride);
    }

    void finish(Value row, int64_t column, Value x) {
      c.e.forget();
      SmallVector<IndexValue> index = indexOf(s.out, batch, {c.add(first, row)}, {constantI64(c.b, column), 1});
      c.e.provide(s.mix.getResult(), [&](ArrayRef<IndexValue>) { return x; });
      c.storeResults(index);
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
