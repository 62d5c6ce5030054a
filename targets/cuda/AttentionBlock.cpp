//===- AttentionBlock.cpp -------------------------------------------------------------------------===//
//
//   the block's tile: parts of the keys innermost, then rows, columns of values, heads    [tile]
//   scores of sums: the kernel's program, at elements that exist                          [score]
//     of all neighbours at once; one by one where lines are ragged or not aligned
//   scores of a thread join those of earlier tiles                                        [add]
//     of a row without any score yet that is more than minus infinity, all powers are 0
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/AttentionBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

SmallVector<Value> RunningState::list() const {
  SmallVector<Value> list;
  for (const RunningRow &row : rows)
    list.append({row.largest, row.sum});
  llvm::append_range(list, sums);
  return list;
}

RunningState RunningState::of(ValueRange list, size_t rows) {
  RunningState state;
  for (size_t i = 0; i < rows; ++i)
    state.rows.push_back({list[2 * i], list[2 * i + 1]});
  llvm::append_range(state.sums, list.drop_front(2 * rows));
  return state;
}

int64_t AttentionTile::sumColumns() const {
  return roundUp(roundUp(columns, valueColumns), TileWriter::kColumns);
}

int64_t AttentionBlock::columnsOf(const AttentionShape &s) {
  return std::min(roundUp(s.e, 16), kMostColumns);
}

/// Of blocks that have the same rows.
static SymExpr groupsOf(const AttentionShape &s, int64_t rows) {
  return s.units() * llvm::divideCeil(s.e, AttentionBlock::columnsOf(s)) *
         SymExpr::ceildiv(s.m, rows);
}

/// Where blocks share keys: as many for each multiprocessor, so that enough bytes are on their way; and of a part.
static constexpr int64_t kBlocksOfEach = 4, kLeastKeys = 256;

static int64_t mostBlocks(const SimtMachine &machine) {
  return kBlocksOfEach * machine.multiprocessors;
}

SymExpr AttentionBlock::partsOf(const AttentionShape &s, int64_t rows, const SimtMachine &machine) {
  if (!isPlain(s))
    return SymExpr::constant(s.softmax->getContext(), 1);
  return BlockParts::countOf(groupsOf(s, rows), SymExpr::ceildiv(s.n, kLeastKeys),
                             mostBlocks(machine));
}

/// Bytes that a part leaves: of each row its sums, the largest score and the sum of powers.
static int64_t bytesOfPart(const AttentionShape &s, int64_t rows) {
  return rows * 4 * (AttentionBlock::columnsOf(s) + 2);
}

SymExpr AttentionBlock::scratch(const AttentionShape &s, int64_t rows, const SimtMachine &machine) {
  return BlockParts::scratchOf(groupsOf(s, rows), partsOf(s, rows, machine), bytesOfPart(s, rows),
                               mostBlocks(machine));
}

SymExpr AttentionBlock::count(const AttentionShape &s, int64_t rows, const SimtMachine &machine) {
  return groupsOf(s, rows) * partsOf(s, rows, machine);
}

static TileSource sourceOf(const AttentionOperand &operand, bool isStepRow, int64_t size,
                           int64_t depth) {
  unsigned line = isStepRow ? operand.column : operand.row,
           step = isStepRow ? operand.row : operand.column;
  SymTensorType type = operand.type();
  return {operand.stored(),          {}, type.getDim(line), type.getDim(step), size, depth,
          step + 1 == type.getRank()};
}

AttentionBlock::Sources AttentionBlock::sourcesOf(const AttentionShape &s,
                                                  const AttentionTile &tile) {
  return {sourceOf(s.q, false, tile.rows, tile.depth),
          sourceOf(s.k, false, tile.keys, tile.keyDepth),
          sourceOf(s.v, true, tile.valueColumns, tile.keys)};
}

/// Of a tensor whose rows, or columns, are the steps.
TileSource::Index AttentionBlock::indexOf(const AttentionOperand &operand, bool isStepRow) const {
  const AttentionOperand *own = &operand;
  return [this, own, isStepRow](const IndexValue &line, const IndexValue &step) {
    return own->storedIndex(k.e,
                            own->index(batch, isStepRow ? step : line, isStepRow ? line : step));
  };
}

/// [tile]
AttentionBlock::AttentionBlock(SimtKernel &k, const AttentionShape &shape,
                               const AttentionTile &tile, TileElements elements, Value flag)
    : results{k,
              {},
              [this](const IndexValue &row, const IndexValue &column) {
                return s.out.index(batch, row, column);
              },
              {},
              {},
              tile.rows,
              tile.columns,
              tile.sumColumns()},
      k(k), s(shape), reader(k, elements), tile(tile) {
  Sources sources = sourcesOf(s, tile);
  queries = sources.queries;
  keys = sources.keys;
  values = sources.values;
  queries.index = indexOf(s.q, false);
  keys.index = indexOf(s.k, false);
  values.index = indexOf(s.v, true);
  results.root = s.mix.getResult();
  results.rows = s.m;
  results.columns = SymExpr::constant(shape.softmax->getContext(), s.e);
  SmallVector<SymExpr> counts(s.batch);
  counts.push_back(
      SymExpr::constant(shape.softmax->getContext(), int64_t(llvm::divideCeil(s.e, tile.columns))));
  counts.push_back(SymExpr::ceildiv(s.m, tile.rows));
  SymExpr partCount = partsOf(s, tile.rows, k.machine);
  if (!partCount.isConstant(1))
    counts.push_back(partCount);
  batch = k.blockDigits(counts);
  if (!partCount.isConstant(1))
    batch.pop_back();
  firstRow = k.mul(batch.pop_back_val(), constantI64(k.b, tile.rows));
  firstColumn = k.mul(batch.pop_back_val(), constantI64(k.b, tile.columns));
  shareKeys(partCount, flag);
}

/// Parts have whole tiles, the last ones less, or nothing.
void AttentionBlock::shareKeys(SymExpr count, Value flag) {
  firstKey = constantI64(k.b, 0);
  endOfKeys = k.e.uniform(s.n);
  if (count.isConstant(1))
    return;
  parts.emplace(k, count, bytesOfPart(s, tile.rows), flag);
  Value own = k.e.uniform(SymExpr::ceildiv(s.n, count * tile.keys) * tile.keys);
  firstKey = k.multipleOf(k.mul(parts->part, own), tile.keys);
  endOfKeys = k.b.create<arith::MinSIOp>(endOfKeys, k.add(firstKey, own));
}

SmallVector<Value>
AttentionBlock::overKeys(ValueRange state,
                         function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return k.loop(firstKey, endOfKeys, tile.keys, state, [&](Value key, ValueRange carried) {
    k.e.forget();
    SmallVector<Value> next = body(k.multipleOf(key, tile.keys), carried);
    k.e.forget();
    return next;
  });
}

Value AttentionBlock::number(double value) {
  return k.b.create<arith::ConstantOp>(k.b.getF32FloatAttr(float(value)));
}

/// Elements outside are computed from the last one.
Value AttentionBlock::inside(Value at, SymExpr extent, int64_t size) {
  if (isMultiple(extent, size))
    return at;
  return k.b.create<arith::MinSIOp>(at, k.sub(k.e.uniform(extent), constantI64(k.b, 1)));
}

int64_t AttentionBlock::neighboursOf(const AttentionShape &s) {
  constexpr int64_t bytes = 16, most = 8;
  int64_t widest = 0;
  for (BlockArgument argument : s.softmax->getParentOfType<func::FuncOp>().getArguments()) {
    auto type = cast<SymTensorType>(argument.getType());
    bool isOperand = llvm::is_contained({s.q.stored(), s.k.stored(), s.v.stored()}, argument);
    if (!isOperand && type.getRank() && type.getDims().back() == s.n)
      widest = std::max<int64_t>(widest, (elementBits(type.getElementType()) + 7) / 8);
  }
  return widest ? std::clamp<int64_t>(bytes / widest, 1, most) : 1;
}

Value AttentionBlock::behindLast(const Program &program, Value number, Value key) {
  if (isMultiple(s.n, tile.keys))
    return number;
  return k.b.create<arith::SelectOp>(k.less(key, k.e.uniform(s.n)), number,
                                     this->number(program.behind));
}

/// One by one.
void AttentionBlock::computeRun(const Program &program, Run &run) {
  for (auto [i, number] : llvm::enumerate(run.numbers)) {
    Value key = k.add(run.firstKey, constantI64(k.b, int64_t(i))), given = number;
    k.e.forget();
    k.e.provide(program.given, [given](ArrayRef<IndexValue>) { return given; });
    Value x = k.e.pull(program.wanted, s.line.index(batch, {inside(run.row, s.m, tile.rows)},
                                                    {inside(key, s.n, tile.keys)}));
    k.e.forget();
    number = behindLast(program, x, key);
  }
}

/// Neighbours are all there, or none of them is: their number is that of the lanes, of which lines have whole chunks.
void AttentionBlock::computeWide(const Program &program, Run &run) {
  ImplicitLocOpBuilder &b = k.b;
  int64_t lanes = int64_t(run.numbers.size());
  Value given = b.create<vector::FromElementsOp>(VectorType::get({lanes}, b.getF32Type()),
                                                 ValueRange(run.numbers));
  Value last = k.sub(k.e.uniform(s.n), constantI64(b, lanes)), key = run.firstKey;
  if (!isMultiple(s.n, tile.keys)) // a multiple of the lanes, which shows
    key = b.create<arith::AndIOp>(b.create<arith::MinSIOp>(key, last), constantI64(b, -lanes));
  k.e.forget();
  k.e.provide(program.given, [given](ArrayRef<IndexValue>) { return given; });
  Value all =
      k.e.pull(program.wanted, s.line.index(batch, {inside(run.row, s.m, tile.rows)}, {key, 1}));
  k.e.forget();
  for (int64_t i = 0; i < lanes; ++i)
    run.numbers[size_t(i)] = behindLast(program, b.create<vector::ExtractOp>(all, i), run.firstKey);
}

/// [score]
void AttentionBlock::compute(const Program &program, MutableArrayRef<Run> runs) {
  ImplicitLocOpBuilder &b = k.b;
  int64_t lanes = int64_t(runs.front().numbers.size());
  Stream stream(k, s.n, unsigned(lanes));
  if (lanes == 1 || neighboursOf(s) == 1 || stream.isNever()) {
    for (Run &run : runs)
      computeRun(program, run);
    return;
  }
  SmallVector<Type> types(runs.size() * size_t(lanes), b.getF32Type());
  auto branch = b.create<scf::IfOp>(types, stream.condition(), /*withElseRegion=*/true);
  auto emit = [&](Block *block, function_ref<void(Run &)> each) {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(block);
    SmallVector<Value> numbers;
    for (Run run : runs) {
      each(run);
      llvm::append_range(numbers, run.numbers);
    }
    k.e.forget();
    b.create<scf::YieldOp>(numbers);
  };
  emit(branch.thenBlock(), [&](Run &run) {
    k.e.setLanes(unsigned(lanes));
    stream.wide([&] { computeWide(program, run); });
    k.e.setLanes(1);
  });
  emit(branch.elseBlock(), [&](Run &run) { computeRun(program, run); });
  for (auto [i, run] : llvm::enumerate(runs))
    run.numbers.assign(branch.getResults().begin() + int64_t(i) * lanes,
                       branch.getResults().begin() + int64_t(i + 1) * lanes);
}

void AttentionBlock::score(MutableArrayRef<Run> runs) {
  compute({s.scores.getResult(), s.softmax.getInput(), -INFINITY}, runs);
}

void AttentionBlock::weigh(MutableArrayRef<Run> runs) {
  compute({s.softmax.getResult(), s.weights, 0}, runs);
}

bool AttentionBlock::isPlain(const AttentionShape &s) {
  if (s.weights == s.softmax.getResult())
    return true;
  // Tensor cores round what they multiply in any case.
  auto convert = s.weights.getDefiningOp<ConvertOp>();
  return isHalfAttention(s) && convert && convert.getInput() == s.softmax.getResult();
}

RunningRow AttentionBlock::noScores() { return {number(-INFINITY), number(0)}; }

Value AttentionBlock::larger(Value a, Value c) {
  return k.call("llvm.nvvm.fmax.f", a.getType(), {a, c}); // what is no number makes the sum none
}

/// By the GPU's own powers of two, whose last two bits may be wrong. The exponents of a row are rounded beside one number, which its quotients lose.
Value AttentionBlock::powerOf(Value score, Value largest) {
  Value isNone = k.b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, largest, number(-INFINITY));
  Value least = k.b.create<arith::SelectOp>(isNone, number(0), largest);
  Value binary = number(1.44269504f); // 1 / log 2
  Value offset = k.b.create<arith::NegFOp>(k.b.create<arith::MulFOp>(least, binary));
  Value exponent = k.b.create<math::FmaOp>(score, binary, offset);
  return k.call("llvm.nvvm.ex2.approx.ftz.f", score.getType(), exponent);
}

/// [add]
Value AttentionBlock::add(RunningRow &row, MutableArrayRef<Value> scores, ArrayRef<unsigned> bits) {
  Value most = scores[0];
  for (Value each : scores.drop_front())
    most = larger(most, each);
  for (unsigned bit : bits)
    most = larger(most, k.exchange(most, bit));
  most = larger(row.largest, most);
  Value factor = powerOf(row.largest, most);
  Value sum = k.b.create<arith::MulFOp>(row.sum, factor);
  for (Value &each : scores) {
    each = powerOf(each, most);
    sum = k.b.create<arith::AddFOp>(sum, each);
  }
  row = {most, sum};
  return factor;
}

Value AttentionBlock::sumOver(Value own, ArrayRef<unsigned> bits) {
  for (unsigned bit : bits)
    own = k.b.create<arith::AddFOp>(own, k.exchange(own, bit));
  return own;
}

Value AttentionBlock::inverse(Value sum) {
  Value none =
      k.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, k.e.uniform(s.n), constantI64(k.b, 0));
  Value quotient = k.b.create<arith::DivFOp>(number(1), sum);
  return k.b.create<arith::SelectOp>(none, number(0), quotient);
}

} // namespace weft
