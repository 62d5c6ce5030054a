//===- IntegerTile.cpp - The inner loops of products of bytes -------------------------------------------===//

#include "targets/cpu/schedules/IntegerTile.h"
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
                                 c.mul(group, constantI64(c.b, columns * dot.group())));
  Value at = elementPointer(c.b, from, c.b.getI32Type(), group);
  source.ahead.fetch(c, ahead ? c.add(group, constantI64(c.b, ahead)) : group);
  SmallVector<Value, 2> loaded;
  for (int64_t v = 0; v < 2; ++v)
    loaded.push_back(
        dot.loadWeights(c, weights, (ahead * columns + v * c.isa.lanes) * dot.group()));
  for (int64_t r = 0; r < rows; ++r) {
    Value all = dot.broadcast(c, rowGroup(at, r * source.rowBytes + ahead * 4, bytes));
    for (int64_t v = 0; v < 2; ++v)
      sums[2 * r + v] = dot.multiplyAdd(c, sums[2 * r + v], all, loaded[v]);
  }
}

IntegerTile::Sums IntegerTile::addRun(const RowRuns &source, Value from, Value panel, Sums sums) {
  int64_t all = steps(source.run), rest = source.run % 4;
  bool ragged = !dot.widens() && !source.readsBeyond && rest;
  int64_t together = unroll(source), whole = (ragged ? all - 1 : all) / together * together;
  auto chain = [&](int64_t u) {
    return MutableArrayRef<Value>(sums).slice(u % chains * rows * 2, rows * 2);
  };
  if (whole)
    sums = c.loop(constantI64(c.b, 0), constantI64(c.b, whole), together, ValueRange(sums),
                  [&](Value group, ValueRange carried) {
                    sums.assign(carried.begin(), carried.end());
                    for (int64_t u = 0; u < together; ++u)
                      step(source, from, panel, group, u, 4, chain(u));
                    return sums;
                  });
  for (int64_t g = whole; g < all; ++g)
    step(source, from, panel, constantI64(c.b, g), 0, ragged && g + 1 == all ? rest : 4, chain(g));
  return sums;
}

SmallVector<Value> IntegerTile::accumulate(const RowRuns &source, Value panel) {
  Sums sums = addRuns(source, panel, Sums(chains * rows * 2, dot.zero(c)));
  for (int64_t i = rows * 2; i < chains * rows * 2; ++i)
    sums[i % (rows * 2)] = c.b.create<arith::AddIOp>(sums[i % (rows * 2)], sums[i]);
  sums.resize(rows * 2);
  return sums;
}

} // namespace weft
