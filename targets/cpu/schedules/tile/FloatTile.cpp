//===- FloatTile.cpp - The inner loops of products of floats that lie in runs ---------------------------===//

#include "targets/cpu/schedules/tile/FloatTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

namespace {
constexpr int64_t kWrittenOut = 12; ///< products of a run without a loop
constexpr int64_t kChain =
    384; ///< products summed in one chain; chains are added up: the error of a long sum stays that of a short one
} // namespace

int64_t FloatTile::turns(const RowRuns &source) const {
  return llvm::divideCeil(source.run, c.machine.turnDepth());
}

/// Few are left over: those are multiplied one by one.
int64_t FloatTile::unroll(int64_t count) const {
  if (count <= kWrittenOut)
    return count;
  const int64_t least = 4;
  int64_t most = c.machine.turnDepth();
  while (most > least && count % most >= least)
    most /= 2;
  return most;
}

FloatTile::Sums FloatTile::zeros() {
  auto vector = VectorType::get({c.machine.lanes()}, c.b.getF32Type());
  return Sums(rows * vectors, c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)));
}

FloatTile::Sums FloatTile::addProducts(const RowRuns &source, Value from, Value panel, Value k,
                                       int64_t count, Sums sums) {
  Type f32 = c.b.getF32Type();
  TileSource products{elementPointer(c.b, from, f32, k), source.rowBytes / 4,
                      elementPointer(c.b, panel, f32, c.mul(k, constantI64(c.b, columns))),
                      constantI64(c.b, columns)};
  products.pairs = pairs;
  products.ahead = source.ahead.behind(c, k);
  products.everyTurn = [&](Value within) {
    source.nextRows.fetch(c, c.b.createOrFold<arith::DivUIOp>(
                                 c.add(k, within), constantI64(c.b, c.machine.turnDepth())));
  };
  Sums next = inOneChain ? sums : zeros();
  multiplyAdd(c, products, constantI64(c.b, count), unroll(count), next, rows, vectors);
  if (!inOneChain)
    for (auto [total, value] : llvm::zip(sums, next))
      value = c.b.create<arith::AddFOp>(total, value);
  return next;
}

FloatTile::Sums FloatTile::addRun(const RowRuns &source, Value from, Value panel, Sums sums) {
  int64_t whole = source.run > kChain ? source.run / kChain * kChain : 0;
  if (whole)
    sums = c.loop(constantI64(c.b, 0), constantI64(c.b, whole), kChain, ValueRange(sums),
                  [&](Value k, ValueRange carried) {
                    return addProducts(source, from, panel, k, kChain, Sums(carried));
                  });
  if (whole < source.run)
    sums = addProducts(source, from, panel, constantI64(c.b, whole), source.run - whole, sums);
  return sums;
}

SmallVector<Value> FloatTile::accumulate(const RowRuns &source, Value panel) {
  inOneChain = source.run * source.outer.count * source.inner.count <= kChain;
  return addRuns(source, panel, zeros());
}

} // namespace weft
