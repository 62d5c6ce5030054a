//===- IntegerTile.cpp - The inner loops of products of bytes -------------------------------------------===//

#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;

namespace weft {

namespace {
constexpr int64_t kMostUnroll = 4;
constexpr int64_t kChains = 6; ///< sums that can be under way at once
} // namespace

IntegerTile::IntegerTile(KernelContext &c, const IntegerDot &dot, int64_t rows)
    : RunTile(c, rows, 2), dot(dot),
      chains(std::max<int64_t>(1, std::min(kMostUnroll, kChains / (2 * rows)))) {}

/// Groups that are written out. Where rows overlap, as neighbours of few channels do, not so many that one group is read as another row's
/// once more: the compiler would keep the broadcast, for which there is no register.
int64_t IntegerTile::unroll(const RowRuns &source) const {
  int64_t apart = source.rowBytes / std::gcd<int64_t>(source.rowBytes, 4);
  return std::min(kMostUnroll, apart);
}

/// A group of a row as one number.
Value IntegerTile::rowGroup(Value at, int64_t offset, int64_t bytes) {
  auto here = [&](int64_t byte) -> Value {
    return c.b.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(c.b.getContext()), c.b.getI8Type(),
                                   at, ArrayRef<LLVM::GEPArg>{int32_t(offset + byte)});
  };
  if (bytes == 4)
    return c.b.create<LLVM::LoadOp>(c.b.getI32Type(), here(0), 1);
  Value sum;
  for (int64_t i = 0; i < bytes; ++i) { // the run ends inside the group
    Value byte = c.b.create<arith::ExtUIOp>(c.b.getI32Type(),
                                            c.b.create<LLVM::LoadOp>(c.b.getI8Type(), here(i), 1));
    byte = c.b.create<arith::ShLIOp>(byte,
                                     c.b.create<arith::ConstantOp>(c.b.getI32IntegerAttr(8 * i)));
    sum = sum ? Value(c.b.create<arith::OrIOp>(sum, byte)) : byte;
  }
  return sum;
}

/// Vectors of weights first, then for every row one broadcast and its multiply-adds.
void IntegerTile::step(const RowRuns &source, Value from, Value panel, Value group, int64_t ahead,
                       int64_t bytes, MutableArrayRef<Value> sums) {
  Value weights = elementPointer(c.b, panel, c.b.getI8Type(),
                                 c.mul(group, constantI64(c.b, columns * dot.weightBytes())));
  Value at = elementPointer(c.b, from, c.b.getI32Type(), group);
  source.ahead.fetch(c, ahead ? c.add(group, constantI64(c.b, ahead)) : group);
  SmallVector<Value, 2> loaded;
  for (int64_t v = 0; v < 2; ++v)
    loaded.push_back(
        dot.loadWeights(c, weights, (ahead * columns + v * c.machine.lanes()) * dot.weightBytes()));
  for (int64_t r = 0; r < rows; ++r) {
    Value all = dot.broadcast(c, rowGroup(at, r * source.rowBytes + ahead * 4, bytes));
    for (int64_t v = 0; v < 2; ++v)
      sums[2 * r + v] = dot.multiplyAdd(c, sums[2 * r + v], all, loaded[v]);
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

/// The groups that are summed in a loop: its first turns have rows beside them.
IntegerTile::Sums IntegerTile::addGroups(const RowRuns &source, Value from, Value panel,
                                         Sums sums) {
  int64_t together = unroll(source), turns = turnsBeside(source);
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  auto run = [&](Value first, Value last, function_ref<void(Value, int64_t)> beside) {
    sums = c.loop(first, last, together, ValueRange(sums), [&](Value group, ValueRange carried) {
      Sums next(carried);
      source.nextRows.fetch(c, c.b.createOrFold<arith::DivUIOp>(group, number(together)));
      for (int64_t u = 0; u < together; ++u) {
        step(source, from, panel, group, u, 4,
             MutableArrayRef<Value>(next).slice(u % chains * rows * 2, rows * 2));
        beside(group, u);
      }
      return next;
    });
  };
  Value begin = number(0);
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
  for (int64_t g = whole; g < all; ++g)
    step(source, from, panel, constantI64(c.b, g), 0,
         isRagged(source) && g + 1 == all ? source.run % 4 : 4,
         MutableArrayRef<Value>(sums).slice(g % chains * rows * 2, rows * 2));
  return sums;
}

SmallVector<Value> IntegerTile::accumulate(const RowRuns &source, Value panel) {
  if (source.beside.rows && !turnsBeside(source))
    c.loop(constantI64(c.b, 0), c.mul(source.beside.isDue, constantI64(c.b, source.beside.rows)), 1,
           source.beside.body);
  Sums sums = addRuns(source, panel, Sums(chains * rows * 2, dot.zero(c)));
  for (int64_t i = rows * 2; i < chains * rows * 2; ++i)
    sums[i % (rows * 2)] = c.b.create<arith::AddIOp>(sums[i % (rows * 2)], sums[i]);
  sums.resize(rows * 2);
  return sums;
}

} // namespace weft
