//===- AttentionScratch.cpp - Keys as panels, copies of values and queries ----------------------===//
//
//   for half panel: the vectors of its rows of K, a square at a time           [pack keys]
//     for depth of the square: store the transposed vector
//   for row of V, or two of them, vector of e                                  [copy values]
//     store it, or the pairs of both; zeros stand for what follows an odd row
//   for row of the tile, vector of d: store it, in the bits that are summed    [copy queries]
//   where n is odd: the weight beyond the last becomes zero                    [end weights]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/product/AttentionScratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
namespace {

int64_t roundUp(int64_t value, int64_t to) { return llvm::divideCeil(value, to) * to; }

/// Whether rows are what the loops read: floats, or pairs none of which straddles two rows.
bool isInPlace(const AttentionOperand &operand, bool pairs, int64_t width) {
  if (!operand.isInPlace())
    return false;
  std::optional<int64_t> stride = operand.rowStride().asConstant();
  return pairs ? stride && *stride % 2 == 0 && width % 2 == 0
               : operand.type().getElementType().isF32();
}

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

/// Columns [first, first + lanes) of a row, those from `limit` on zero.
Value pullColumns(KernelContext &c, const AttentionOperand &operand, ArrayRef<Value> batch,
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

/// For every `step` of [0, width): `body(first, whole)`.
void eachVector(KernelContext &c, int64_t width, int64_t step,
                function_ref<void(Value, bool)> body) {
  int64_t whole = width / step * step;
  c.e.forget();
  c.loop(constantI64(c.b, 0), constantI64(c.b, whole), step, [&](Value first) {
    body(first, true);
    c.e.forget();
  });
  if (whole < width)
    body(constantI64(c.b, whole), false);
  c.e.forget();
}

VectorType wordVector(KernelContext &c) {
  return VectorType::get({c.machine.lanes()}, c.b.getI32Type());
}

Value words(KernelContext &c, int32_t value) {
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(wordVector(c), c.b.getI32IntegerAttr(value)));
}

/// Of elements that are bf16 already, widened or just rounded: nothing is lost.
Value upperHalf(KernelContext &c, Value reals) {
  Value bits = c.b.create<arith::BitcastOp>(wordVector(c), reals);
  return c.b.create<arith::ShRUIOp>(bits, words(c, 16));
}

Value asBits(KernelContext &c, Value reals) {
  return c.b.create<arith::TruncIOp>(wordVector(c).clone(c.b.getI16Type()), upperHalf(c, reals));
}

/// The elements of two vectors in turns.
Value interleave(KernelContext &c, Value first, Value second) {
  Value bits = c.b.create<arith::BitcastOp>(wordVector(c), second);
  return c.b.create<arith::OrIOp>(upperHalf(c, first),
                                  c.b.create<arith::AndIOp>(bits, words(c, int32_t(0xffff0000))));
}

} // namespace

bool AttentionScratch::multipliesHalves(ContractOp op) {
  auto isBf16 = [](Value x) { return cast<SymTensorType>(x.getType()).getElementType().isBF16(); };
  return isBf16(op.getLhs()) && isBf16(op.getRhs());
}

AttentionScratch::AttentionScratch(const AttentionShape &s, const VectorMachine &machine,
                                   bool tiles)
    : tiles(tiles), scorePairs(multipliesHalves(s.scores) && (tiles || machine.addsHalfProducts())),
      mixPairs(multipliesHalves(s.mix) && (tiles || machine.addsHalfProducts())),
      rows(tiles ? TileUnit::kRows : pick(s.mix, "rows", tileRows(machine))),
      depth(tiles        ? roundUp(s.d, 2 * TileUnit::kRowWords) / 2
            : scorePairs ? llvm::divideCeil(s.d, 2)
                         : s.d),
      columns(tileColumns(machine)), s(s) {
  copiesValues = mixPairs || !isInPlace(s.v, false, s.e) || s.e % machine.lanes();
  copiesQueries = !isInPlace(s.q, scorePairs, s.d) || !s.q.rowStride().asConstant() ||
                  (tiles && depth * 2 != s.d);
  copiedStride = roundUp(s.e, machine.lanes());
  queryStride = roundUp(depth, machine.lanes());
  panels = SymExpr::ceildiv(s.n, columns);
  scores = panels * (columns * depth);
  numbers = scores + panels * (columns * rows);
  values = numbers + roundUp(rows, machine.lanes());
  queries = copiesValues ? values + valueLines() * copiedStride : values;
  size = copiesQueries ? queries + rows * queryStride : queries;
}

/// Rows of the copy of V.
SymExpr AttentionScratch::valueLines() const {
  return tiles ? panels * (columns / 2) : mixPairs ? SymExpr::ceildiv(s.n, 2) : s.n;
}

Value AttentionScratch::at(KernelContext &c, SymExpr offset) const {
  return elementPointer(c.b, c.scratch, c.b.getF32Type(), c.e.uniform(offset));
}

Value AttentionScratch::scoresAt(KernelContext &c) const { return at(c, scores); }

Value AttentionScratch::numbersAt(KernelContext &c) const { return at(c, numbers); }

Value AttentionScratch::inPlace(KernelContext &c, const AttentionOperand &operand,
                                ArrayRef<Value> batch, Value row) const {
  auto argument = cast<BlockArgument>(operand.stored());
  auto type = cast<SymTensorType>(argument.getType());
  IndexValue at =
      c.e.linear(type, operand.storedIndex(c.e, operand.index(batch, {row}, c.e.constant(0))));
  return elementPointer(c.b, c.inputs[argument.getArgNumber()], memoryType(type.getElementType()),
                        at.base);
}

/// A vector of K's elements as they are multiplied, in floats or pairs, from depth `column` on.
Value AttentionScratch::wordsOf(KernelContext &c, ArrayRef<Value> batch, Value row, Value column,
                                bool whole) const {
  Value first = pullColumns(c, s.k, batch, row, column, whole, s.d);
  if (!scorePairs)
    return first;
  int64_t lanes = c.machine.lanes();
  bool isAlone = !whole && s.d % (2 * lanes) <= lanes;
  Value second =
      isAlone ? c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0))
              : pullColumns(c, s.k, batch, row, c.add(column, constantI64(c.b, lanes)), whole, s.d);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
  Value bits = c.b.create<vector::ShuffleOp>(asBits(c, first), asBits(c, second), all);
  return c.b.create<vector::BitCastOp>(wordVector(c), bits);
}

void AttentionScratch::packKeys(KernelContext &c, ArrayRef<Value> batch) const {
  // [pack keys] Half a panel has as many rows as a vector has lanes.
  int64_t lanes = c.machine.lanes(), perWord = scorePairs ? 2 : 1;
  int64_t rest = depth - s.d / (lanes * perWord) * lanes; // with tiles, all lines of the square
  Type f32 = c.b.getF32Type();
  Value last = c.e.uniform(s.n - 1), halves = c.e.uniform(panels * int64_t(2));
  c.loop(constantI64(c.b, 0), halves, 1, [&](Value half) {
    Value panel = c.b.create<arith::DivUIOp>(half, constantI64(c.b, 2)),
          odd = c.b.create<arith::RemUIOp>(half, constantI64(c.b, 2));
    Value to = elementPointer(c.b, c.scratch, f32,
                              c.add(c.mul(panel, constantI64(c.b, columns * depth)),
                                    c.mul(odd, constantI64(c.b, lanes)))),
          first = c.mul(half, constantI64(c.b, lanes));
    eachVector(c, s.d, lanes * perWord, [&](Value column, bool whole) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < lanes; ++i) {
        Value row = c.b.create<arith::MinSIOp>(c.add(first, constantI64(c.b, i)), last);
        square.push_back(wordsOf(c, batch, row, column, whole));
      }
      transposeSquare(c.b, square);
      Value line = c.b.createOrFold<arith::DivUIOp>(column, constantI64(c.b, perWord));
      for (int64_t i = 0, count = whole ? lanes : rest; i < count; ++i)
        c.b.create<LLVM::StoreOp>(
            square[i],
            elementPointer(c.b, to, f32,
                           c.mul(c.add(line, constantI64(c.b, i)), constantI64(c.b, columns))),
            4);
    });
  });
}

void AttentionScratch::copyValues(KernelContext &c, ArrayRef<Value> batch) const {
  if (!copiesValues)
    return;
  // [copy values] Rows in whole vectors, zeros behind them: the mix then has no masks.
  int64_t perWord = mixPairs ? 2 : 1;
  Value base = at(c, values), n = c.e.uniform(s.n), one = constantI64(c.b, 1);
  Value none = c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0));
  c.loop(constantI64(c.b, 0), c.e.uniform(valueLines()), 1, [&](Value line) {
    Value row = c.mul(line, constantI64(c.b, perWord));
    auto pullRow = [&](Value row, Value column, bool whole) -> Value {
      Value isThere = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row, n),
            there = c.b.create<arith::MinSIOp>(row, c.sub(n, one));
      return c.b.create<arith::SelectOp>(
          isThere, pullColumns(c, s.v, batch, there, column, whole, s.e), none);
    };
    Value to =
        elementPointer(c.b, base, c.b.getF32Type(), c.mul(line, constantI64(c.b, copiedStride)));
    eachVector(c, s.e, c.machine.lanes(), [&](Value column, bool whole) {
      Value x =
          tiles ? pullRow(row, column, whole) : pullColumns(c, s.v, batch, row, column, whole, s.e);
      if (mixPairs)
        x = interleave(c, x, pullRow(c.add(row, one), column, whole));
      c.b.create<LLVM::StoreOp>(x, elementPointer(c.b, to, c.b.getF32Type(), column), 4);
    });
  });
}

void AttentionScratch::copyQueries(KernelContext &c, ArrayRef<Value> batch, Value first,
                                   Value count) const {
  if (!copiesQueries)
    return;
  // [copy queries] Their distance is then constant: one base register for all rows.
  Value base = at(c, queries);
  Type stored = scorePairs ? memoryType(c.b.getBF16Type()) : Type(c.b.getF32Type());
  int64_t lanes = c.machine.lanes(), written = roundUp(s.d, lanes);
  c.loop(constantI64(c.b, 0), count, 1, [&](Value row) {
    Value to = elementPointer(c.b, base, c.b.getF32Type(),
                              c.mul(row, constantI64(c.b, queryStride))),
          from = c.add(first, row);
    auto store = [&](Value x, Value column) {
      c.b.create<LLVM::StoreOp>(scorePairs ? asBits(c, x) : x,
                                elementPointer(c.b, to, stored, column), 2);
    };
    eachVector(c, s.d, lanes, [&](Value column, bool whole) {
      store(pullColumns(c, s.q, batch, from, column, whole, s.d), column);
    });
    if (tiles && written < depth * 2) // half a tile, whose keys are zeros, too
      store(c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0)), constantI64(c.b, written));
  });
}

TileSource AttentionScratch::scoreSource(KernelContext &c, ArrayRef<Value> batch, Value first,
                                         Value panel) const {
  Value keys = elementPointer(c.b, c.scratch, c.b.getF32Type(),
                              c.mul(panel, constantI64(c.b, columns * depth))),
        stride = constantI64(c.b, columns);
  TileSource source{at(c, queries), queryStride, keys, stride};
  if (!copiesQueries) {
    source.a = inPlace(c, s.q, batch, first);
    source.rowStride = *s.q.rowStride().asConstant() / (scorePairs ? 2 : 1);
  }
  source.pairs = scorePairs;
  return source;
}

void AttentionScratch::fetchQueries(KernelContext &c, ArrayRef<Value> batch, Value first,
                                    int64_t count) const {
  if (copiesQueries)
    return;
  int64_t size = elementBits(s.q.type().getElementType()) / 8,
          stride = *s.q.rowStride().asConstant() * size;
  Value here = inPlace(c, s.q, batch, first);
  for (int64_t row = count; row < 2 * count; ++row)
    for (int64_t at = 0; at < s.d * size; at += kLineBytes)
      c.machine.prefetch(
          c.b, elementPointer(c.b, here, c.b.getI8Type(), constantI64(c.b, row * stride + at)),
          VectorMachine::Cache::First);
}

Value AttentionScratch::valueStride(KernelContext &c) const {
  return copiesValues ? constantI64(c.b, copiedStride) : c.e.uniform(s.v.rowStride());
}

Value AttentionScratch::valuesAt(KernelContext &c, ArrayRef<Value> batch, int64_t column) const {
  Value from = copiesValues ? at(c, values) : inPlace(c, s.v, batch, constantI64(c.b, 0));
  return elementPointer(c.b, from, c.b.getF32Type(), constantI64(c.b, column));
}

/// Weights that are only rounded before the product need not be pulled rounded.
static Value unrounded(Value weights) {
  auto rounded = weights.getDefiningOp<ConvertOp>();
  bool fromReal =
      rounded && cast<SymTensorType>(rounded.getInput().getType()).getElementType().isF32();
  return fromReal ? rounded.getInput() : weights;
}

void AttentionScratch::storeWeights(KernelContext &c, ArrayRef<IndexValue> index, Value row,
                                    int64_t vector, Value inside) const {
  Value weights = c.e.pull(unrounded(s.weights), index);
  if (tiles && inside)
    weights = c.b.create<arith::SelectOp>(
        inside, weights, c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0)));
  Value bits = c.machine.roundForHalfProducts(c.b, weights);
  Value offset = constantI64(c.b, vector * c.machine.lanes());
  c.b.create<LLVM::StoreOp>(bits, elementPointer(c.b, row, c.b.getI16Type(), offset), 2);
}

void AttentionScratch::endWeights(KernelContext &c, function_ref<Value(Value panel)> rowAt) const {
  // [end weights] Once or never, which is what a loop over a remainder is.
  Value n = c.e.uniform(s.n);
  auto remainder = [&](int64_t by) -> Value {
    return c.b.create<arith::RemUIOp>(n, constantI64(c.b, by));
  };
  c.loop(constantI64(c.b, 0), remainder(2), 1, [&](Value) {
    Value panel = c.b.create<arith::DivUIOp>(n, constantI64(c.b, columns));
    Value at = elementPointer(c.b, rowAt(panel), c.b.getI16Type(), remainder(columns));
    c.b.create<LLVM::StoreOp>(c.b.create<arith::ConstantOp>(c.b.getI16IntegerAttr(0)), at, 2);
  });
}

} // namespace weft
