//===- ByteMatrixTile.cpp - The inner loops of products of small matrices of bytes ------------------------===//
//
//   for two groups of k's of a run                                           [groups]
//     for pair of rows: 16 bytes of both, so that two groups of a row        [pair rows]
//                       become a group of two rows, twice; where many panels
//                       meet them this is done once before
//     for vector of a group's columns: sums of each pair += pair * columns   [multiply]
//   the group left over
//   sums of two rows lie side by side, two columns of each: they are parted  [part rows]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/ByteMatrixTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

Value ByteMatrixTile::byteAt(Value base, int64_t offset) {
  return c.b.create<LLVM::GEPOp>(base.getType(), c.b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

/// [pair rows] For each of the groups, four words: two of a row, then two of the next.
SmallVector<Value> ByteMatrixTile::pairOfRows(const RowRuns &source, Value at, int64_t pair,
                                              int64_t together) {
  auto words = VectorType::get({2 * together}, c.b.getI32Type());
  auto load = [&](int64_t row) -> Value {
    row = std::min(row, rows - 1);
    return c.b.create<LLVM::LoadOp>(words, byteAt(at, row * source.rowBytes), 1);
  };
  Value first = load(2 * pair), second = load(2 * pair + 1);
  SmallVector<Value> both;
  for (int64_t u = 0; u < together; ++u) {
    int64_t here = 2 * u, there = 2 * together + 2 * u;
    both.push_back(c.b.create<vector::ShuffleOp>(
        first, second, SmallVector<int64_t>{here, here + 1, there, there + 1}));
  }
  return both;
}

/// Of each pair of rows `together` groups from `group` on.
SmallVector<SmallVector<Value>> ByteMatrixTile::pairsAt(const RowRuns &source, Value from,
                                                        Value group, int64_t together) {
  int64_t groupBytes = arePaired ? pairs * 2 * kGroup : kGroup;
  Value at = elementPointer(c.b, from, c.b.getI8Type(), c.mul(group, constantI64(c.b, groupBytes)));
  SmallVector<SmallVector<Value>> paired(pairs);
  auto words = VectorType::get({4}, c.b.getI32Type());
  for (int64_t pair = 0; pair < pairs; ++pair) {
    if (!arePaired)
      paired[pair] = pairOfRows(source, at, pair, together);
    for (int64_t u = 0; arePaired && u < together; ++u)
      paired[pair].push_back(
          c.b.create<LLVM::LoadOp>(words, byteAt(at, (u * pairs + pair) * 2 * kGroup), 4));
  }
  return paired;
}

/// All groups as [group][pair][16 bytes], in the order in which they are multiplied.
RowRuns ByteMatrixTile::placed(const RowRuns &source, Value scratch) {
  if (!arePaired)
    return source;
  auto pairGroups = [&](Value group, int64_t together) {
    Value at = elementPointer(c.b, source.first, c.b.getI8Type(),
                              c.mul(group, constantI64(c.b, kGroup))),
          there = elementPointer(c.b, scratch, c.b.getI8Type(),
                                 c.mul(group, constantI64(c.b, pairs * 2 * kGroup)));
    for (int64_t pair = 0; pair < pairs; ++pair)
      for (auto [u, both] : llvm::enumerate(pairOfRows(source, at, pair, together)))
        c.b.create<LLVM::StoreOp>(both, byteAt(there, (u * pairs + pair) * 2 * kGroup), 4);
  };
  int64_t all = steps(source.run), whole = all / kUnroll * kUnroll;
  c.loop(constantI64(c.b, 0), constantI64(c.b, whole), kUnroll,
         [&](Value group) { pairGroups(group, kUnroll); });
  if (whole < all)
    pairGroups(constantI64(c.b, whole), 1);
  RowRuns paired = source;
  paired.first = scratch;
  return paired;
}

/// [groups] `together` of them from `group` on.
ByteMatrixTile::Sums ByteMatrixTile::addGroups(const RowRuns &source, Value from, Value panel,
                                               Value group, int64_t together, Sums sums) {
  Value weights =
      elementPointer(c.b, panel, c.b.getI8Type(), c.mul(group, constantI64(c.b, columns * kGroup)));
  SmallVector<SmallVector<Value>> paired = pairsAt(source, from, group, together);
  auto words = VectorType::get({c.machine.lanes()}, c.b.getI32Type());
  for (int64_t u = 0; u < together; ++u) {
    source.ahead.fetch(c, u ? c.add(group, constantI64(c.b, u)) : group);
    // [multiply]
    for (int64_t v = 0; v < perPair; ++v) {
      int64_t offset = u * columns * kGroup + v * 4 * int64_t(c.machine.lanes());
      Value loaded = c.b.create<LLVM::LoadOp>(words, byteAt(weights, offset), 4);
      for (int64_t pair = 0; pair < pairs; ++pair) {
        Value &sum = sums[perPair * pair + v];
        sum = c.machine.addByteMatrices(c.b, sum, paired[pair][u], loaded, signs);
      }
    }
  }
  return sums;
}

ByteMatrixTile::Sums ByteMatrixTile::addRun(const RowRuns &source, Value from, Value panel,
                                            Sums sums) {
  int64_t all = steps(source.run), whole = all / kUnroll * kUnroll;
  if (whole)
    sums = c.loop(constantI64(c.b, 0), constantI64(c.b, whole), kUnroll, ValueRange(sums),
                  [&](Value group, ValueRange carried) {
                    source.nextRows.fetch(
                        c, c.b.createOrFold<arith::DivUIOp>(group, constantI64(c.b, kUnroll)));
                    return addGroups(source, from, panel, group, kUnroll, Sums(carried));
                  });
  if (whole < all)
    sums = addGroups(source, from, panel, constantI64(c.b, whole), 1, sums);
  return sums;
}

/// [part rows] Two vectors of two rows become a vector of each.
ByteMatrixTile::Sums ByteMatrixTile::partRows(KernelContext &c, ArrayRef<Value> both, int64_t rows,
                                              int64_t vectors) {
  Sums sums;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<int64_t> places;
    for (int64_t four = 0; four < 2 * int64_t(c.machine.lanes()); four += 4)
      places.append({four + row % 2 * 2, four + row % 2 * 2 + 1});
    for (int64_t v = 0; v < vectors; ++v) {
      const Value *from = &both[2 * (vectors * (row / 2) + v)];
      sums.push_back(c.b.create<vector::ShuffleOp>(from[0], from[1], places));
    }
  }
  return sums;
}

SmallVector<Value> ByteMatrixTile::accumulate(const RowRuns &source, Value panel) {
  auto words = VectorType::get({c.machine.lanes()}, c.b.getI32Type());
  Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(words));
  return partRows(c, addRuns(source, panel, Sums(perPair * pairs, zero)), rows, vectors);
}

} // namespace weft
