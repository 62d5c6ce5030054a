//===- IntegerTile.cpp - The inner loops of products of bytes -------------------------------------------===//
//
//   rows shifted into scratch, where panels are many                        [place]
//   sums = 0, or what is behind the panel where activations are shifted     [begin]
//   for groups of k's of a run, some in each turn                           [groups]
//     weights = a group for each column of the panel, in its vectors        [load weights]
//     for row: its sums += its group in all lanes * weights                 [multiply add]
//     the same of several groups, whose pairs are summed in 16 bits first
//     in the first turns, what is done beside for a row or some             [beside]
//   the groups left over; the last may end inside, and is read by bytes     [ragged]
//   chains are added up                                                     [join chains]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace weft {

namespace {
constexpr int64_t kMostUnroll = 4;
constexpr int64_t kChains = 6; ///< sums that can be under way at once
} // namespace

IntegerTile::IntegerTile(KernelContext &c, const IntegerDot &dot, int64_t rows, int64_t vectors,
                         bool shiftsBefore)
    : RunTile(c, rows, vectors), dot(dot), shiftsBefore(shiftsBefore),
      chains(
          std::max<int64_t>(1, std::min(kMostUnroll / dot.atOnce(), kChains / (vectors * rows)))),
      perChain(vectors * rows) {}

IntegerTile::Groups IntegerTile::groups(int64_t together) {
  SpreadRun run(c, c.b.getI32Type(), together, 1);
  if (!shiftsBefore)
    run.changeBy([this](Value groups) { return dot.shift(c, groups); });
  return Groups(rows, run);
}

/// [place] Where many panels meet them, rows are shifted once before. Behind each, scratch has bytes that meet weights of 0.
RowRuns IntegerTile::placed(const RowRuns &source, Value scratch) {
  if (!shiftsBefore)
    return source;
  RowRuns there = source;
  there.first = scratch;
  int64_t width = 4 * c.machine.lanes(), whole = source.run / width * width;
  there.rowBytes = shiftedBytes(1, source.run, c.machine);
  there.readsBeyond = true;
  auto copy = [&](Type type, Value k, function_ref<Value(Value)> shift) {
    for (int64_t r = 0; r < rows; ++r) {
      auto at = [&](const RowRuns &place) {
        return byteAt(elementPointer(c.b, place.first, c.b.getI8Type(), k), r * place.rowBytes);
      };
      Value bytes = c.b.create<LLVM::LoadOp>(type, at(source), 1);
      c.b.create<LLVM::StoreOp>(shift(bytes), at(there), 1);
    }
  };
  c.loop(constantI64(c.b, 0), constantI64(c.b, whole), width, [&](Value k) {
    copy(VectorType::get({c.machine.lanes()}, c.b.getI32Type()), k,
         [&](Value groups) { return dot.shift(c, groups); });
  });
  c.loop(constantI64(c.b, whole), constantI64(c.b, source.run), 1, [&](Value k) {
    copy(c.b.getI8Type(), k, [&](Value byte) { return dot.shiftByte(c, byte); });
  });
  return there;
}

/// Groups that are written out. Where rows overlap, as neighbours of few channels do, not so many that one group is read as another row's
/// once more: the compiler would keep the broadcast, for which there is no register. Whole steps, as groups begin where they were proven to fit.
int64_t IntegerTile::unroll(const RowRuns &source) const {
  int64_t apart = source.rowBytes / std::gcd<int64_t>(source.rowBytes, 4), least = dot.atOnce();
  return std::max(least, std::min(kMostUnroll, apart) / least * least);
}

Value IntegerTile::byteAt(Value base, int64_t offset) {
  return c.b.create<LLVM::GEPOp>(base.getType(), c.b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

/// [ragged] A group inside which the run ends, in all lanes.
Value IntegerTile::raggedGroup(Value at, int64_t offset, int64_t bytes) {
  Value sum;
  for (int64_t i = 0; i < bytes; ++i) {
    Value byte = c.b.create<LLVM::LoadOp>(c.b.getI8Type(), byteAt(at, offset + i), 1);
    byte = c.b.create<arith::ExtUIOp>(c.b.getI32Type(), byte);
    byte = c.b.create<arith::ShLIOp>(byte,
                                     c.b.create<arith::ConstantOp>(c.b.getI32IntegerAttr(8 * i)));
    sum = sum ? Value(c.b.create<arith::OrIOp>(sum, byte)) : byte;
  }
  return c.b.create<vector::SplatOp>(sum, VectorType::get({c.machine.lanes()}, c.b.getI32Type()));
}

/// The nth group of a row in all lanes.
Value IntegerTile::groupOf(const RowRuns &source, Value at, int64_t row, int64_t nth, int64_t bytes,
                           Groups &groups) {
  if (bytes < 4)
    return dot.shift(c, raggedGroup(at, row * source.rowBytes + nth * 4, bytes));
  return groups[row].element(nth,
                             [&](int64_t i) { return byteAt(at, row * source.rowBytes + i * 4); });
}

void IntegerTile::step(const RowRuns &source, Value from, Value panel, Value group, Step some,
                       Groups &groups, MutableArrayRef<Value> sums) {
  Value weights = elementPointer(c.b, panel, c.b.getI8Type(),
                                 c.mul(group, constantI64(c.b, columns * dot.weightBytes())));
  Value at = elementPointer(c.b, from, c.b.getI32Type(), group);
  // [load weights] Once for all rows.
  SmallVector<SmallVector<Value, 4>, 2> loaded(vectors);
  for (int64_t nth = some.ahead; nth < some.ahead + some.count; ++nth) {
    source.ahead.fetch(c, nth ? c.add(group, constantI64(c.b, nth)) : group);
    for (int64_t v = 0; v < vectors; ++v)
      loaded[v].push_back(
          dot.loadWeights(c, weights, (nth * columns + v * c.machine.lanes()) * dot.weightBytes()));
  }
  // [multiply add] One broadcast of a row for both vectors.
  for (int64_t r = 0; r < rows; ++r) {
    SmallVector<Value, 4> all;
    for (int64_t i = 0; i < some.count; ++i)
      all.push_back(
          groupOf(source, at, r, some.ahead + i, i + 1 < some.count ? 4 : some.lastBytes, groups));
    for (int64_t v = 0; v < vectors; ++v)
      sums[vectors * r + v] = dot.multiplyAdd(c, sums[vectors * r + v], all, loaded[v]);
  }
}

/// Whether the last group of a run has to be read byte by byte.
bool IntegerTile::isRagged(const RowRuns &source) const {
  return !dot.widens() && !source.readsBeyond && source.run % 4;
}

/// Groups of a run that are summed in a loop.
int64_t IntegerTile::wholeGroups(const RowRuns &source) const {
  int64_t together = unroll(source);
  return (steps(source.run) - isRagged(source)) / together * together;
}

/// Turns of that loop in which all rows beside get their turn, equally many in each; 0 when a run is too short.
int64_t IntegerTile::turnsBeside(const RowRuns &source) const {
  int64_t turns = std::min(source.beside.rows, this->turns(source));
  while (turns && source.beside.rows % turns)
    --turns;
  return turns;
}

/// [groups] Those that are summed in a loop: its first turns have rows beside them.
IntegerTile::Sums IntegerTile::addGroups(const RowRuns &source, Value from, Value panel,
                                         Sums sums) {
  int64_t together = unroll(source), turns = turnsBeside(source);
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  auto run = [&](Value first, Value last, function_ref<void(Value, int64_t)> beside) {
    sums = c.loop(first, last, together, ValueRange(sums), [&](Value group, ValueRange carried) {
      Sums next(carried);
      source.nextRows.fetch(c, c.b.createOrFold<arith::DivUIOp>(group, number(together)));
      Groups inTurn = groups(together);
      for (int64_t u = 0; u < together; u += dot.atOnce()) {
        step(source, from, panel, group, {u, dot.atOnce(), 4}, inTurn, chain(next, u));
        for (int64_t i = u; i < u + dot.atOnce(); ++i)
          beside(group, i);
      }
      return next;
    });
  };
  Value begin = number(0);
  // [beside] As many rows in every turn.
  if (turns) {
    int64_t perTurn = source.beside.rows / turns;
    begin = c.mul(c.mul(source.beside.isDue, source.isFirst), number(turns * together));
    run(number(0), begin, [&](Value group, int64_t u) {
      Value first = c.mul(c.b.create<arith::DivUIOp>(group, number(together)), number(perTurn));
      for (int64_t i = 0; i < perTurn; ++i)
        if (i * together / perTurn == u)
          source.beside.body(c.add(first, number(i)));
    });
  }
  run(begin, number(wholeGroups(source)), [](Value, int64_t) {});
  return sums;
}

IntegerTile::Sums IntegerTile::addRun(const RowRuns &source, Value from, Value panel, Sums sums) {
  int64_t all = steps(source.run), whole = wholeGroups(source);
  if (whole)
    sums = addGroups(source, from, panel, sums);
  for (int64_t g = whole; g < all; g += dot.atOnce()) {
    int64_t count = std::min(dot.atOnce(), all - g);
    Groups few = groups(count);
    int64_t lastBytes = isRagged(source) && g + count == all ? source.run % 4 : 4;
    step(source, from, panel, constantI64(c.b, g), {0, count, lastBytes}, few, chain(sums, g));
  }
  return sums;
}

/// The sums that a group is added to.
MutableArrayRef<Value> IntegerTile::chain(Sums &sums, int64_t group) {
  return MutableArrayRef<Value>(sums).slice(group / dot.atOnce() % chains * perChain, perChain);
}

/// [begin] One chain has what the rows lack.
IntegerTile::Sums IntegerTile::begin(const RowRuns &source, Value panel) {
  Sums sums(chains * perChain, dot.zero(c));
  int64_t ofProducts = source.outer.count * source.inner.count * runBytes(source.run);
  for (int64_t v = 0; dot.isShifted() && v < vectors; ++v) {
    Value shift = dot.loadShift(c, panel, ofProducts + 4 * v * c.machine.lanes());
    for (int64_t r = 0; r < rows; ++r)
      sums[vectors * r + v] = shift;
  }
  return sums;
}

SmallVector<Value> IntegerTile::accumulate(const RowRuns &source, Value panel) {
  if (source.beside.rows && !turnsBeside(source))
    c.loop(constantI64(c.b, 0), c.mul(source.beside.isDue, constantI64(c.b, source.beside.rows)), 1,
           source.beside.body);
  Sums sums = addRuns(source, panel, begin(source, panel));
  // [join chains] Those of the first chain take the others.
  for (int64_t i = perChain; i < chains * perChain; ++i)
    sums[i % perChain] = c.b.create<arith::AddIOp>(sums[i % perChain], sums[i]);
  sums.resize(perChain);
  return sums;
}

} // namespace weft
