//===- ProductBlock.cpp ---------------------------------------------------------------------------===//
//
//   the block's tile: its share of a stripe innermost, then stripes, then outer dimensions     [tile]
//   for all tiles of steps                                                                     [sum]
//     both operands of a later one on their way to shared memory                               [ahead]
//     products of this one
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

static SymExpr sharesOf(const ProductShape &s, int64_t mostRows) {
  SymExpr rows = s.extent(s.m);
  return SymExpr::max(SymExpr::constant(rows.getContext(), kShares),
                      SymExpr::ceildiv(rows, mostRows));
}

SymExpr blocksOf(const ProductShape &s, int64_t mostRows) {
  SymExpr blocks = sharesOf(s, mostRows) * SymExpr::ceildiv(s.extent(s.n), kStripe);
  for (unsigned factor : s.outer)
    blocks = blocks * s.extent(factor);
  return blocks;
}

TileSource ProductBlock::operand(bool isA) const {
  const ProductShape::Factors &factors = isA ? s.inA : s.inB;
  auto index = [this, isA](const IndexValue &at, const IndexValue &step) {
    IndexValue none;
    return s.indexOf(isA ? s.inA : s.inB, outer, isA ? at : none, isA ? none : at, step);
  };
  return {isA ? s.a : s.b,
          index,
          s.extent(isA ? s.m : s.n),
          s.extent(s.k),
          isA ? tile.rows : tile.columns,
          tile.depth,
          factors.back() == s.k};
}

/// [tile]
ProductBlock::ProductBlock(SimtKernel &k, const ProductShape &shape, const BlockTile &tile,
                           int64_t mostRows, bool isRaw)
    : k(k), s(shape), tile(tile), reader(k, isRaw), operandA(operand(true)),
      operandB(operand(false)), results{k,
                                        s.op.getResult(),
                                        [this](const IndexValue &row, const IndexValue &column) {
                                          return s.indexOf(s.inResult, outer, row, column, {});
                                        },
                                        s.extent(s.m),
                                        s.extent(s.n),
                                        tile.rows,
                                        tile.columns,
                                        std::max(tile.columns, TileWriter::kColumns)} {
  SmallVector<SymExpr> counts;
  for (unsigned factor : s.outer)
    counts.push_back(s.extent(factor));
  counts.push_back(SymExpr::ceildiv(s.extent(s.n), kStripe));
  counts.push_back(sharesOf(s, mostRows));
  outer = k.blockDigits(counts);
  Value share = outer.pop_back_val();
  firstColumn = k.mul(outer.pop_back_val(), constantI64(k.b, kStripe));
  firstRow = constantI64(k.b, 0);
  if (tile.columns == kStripe)
    firstRow = k.mul(share, constantI64(k.b, tile.rows));
  else
    firstColumn = k.add(firstColumn, k.mul(share, constantI64(k.b, tile.columns)));
}

Value ProductBlock::isInside() {
  return k.b.create<arith::AndIOp>(k.less(firstRow, k.e.uniform(s.extent(s.m))),
                                   k.less(firstColumn, k.e.uniform(s.extent(s.n))));
}

TileStages TileStages::of(int64_t bytes) {
  constexpr int64_t mostBytes = 36 * 1024, most = 4;
  return {bytes, std::min(mostBytes / bytes, most)};
}

/// [ahead] Both operands' tiles of these steps, where there are any, to a stage: a group of copies.
void ProductBlock::fill(Value step, Value stage, TargetOf target) {
  k.when(k.less(step, k.e.uniform(s.extent(s.k))), [&] {
    reader.fill(operandA, firstRow, step, target(operandA, stage));
    reader.fill(operandB, firstColumn, step, target(operandB, stage));
  });
  k.endCopies();
}

/// [sum] Behind the barrier a tile is there for all, and nobody reads the one before it, whose stage is filled next.
SmallVector<Value> ProductBlock::sum(ValueRange sums, const TileStages &stages, TargetOf target,
                                     Multiply multiply) {
  ImplicitLocOpBuilder &b = k.b;
  int64_t ahead = stages.count - 1;
  for (int64_t i = 0; i < ahead; ++i)
    fill(constantI64(b, i * tile.depth), constantI64(b, i * stages.bytes), target);
  auto behind = [&](Value stage) -> Value {
    Value next = k.add(stage, constantI64(b, stages.bytes)), all = constantI64(b, stages.all());
    Value isLast = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, next, all);
    return b.create<arith::SelectOp>(isLast, constantI64(b, 0), next);
  };
  SmallVector<Value> carried{constantI64(b, 0), constantI64(b, ahead * stages.bytes)};
  llvm::append_range(carried, sums);
  carried = k.loop(constantI64(b, 0), k.e.uniform(s.extent(s.k)), tile.depth, carried,
                   [&](Value step, ValueRange carried) {
                     k.awaitCopies(ahead - 1);
                     k.gatherBlock();
                     Value later = k.add(step, constantI64(b, ahead * tile.depth));
                     fill(k.multipleOf(later, tile.depth), carried[1], target);
                     SmallVector<Value> next{behind(carried[0]), behind(carried[1])};
                     llvm::append_range(next, multiply(carried[0], carried.drop_front(2)));
                     return next;
                   });
  k.gatherBlock();
  return SmallVector<Value>(llvm::drop_begin(carried, 2));
}

} // namespace weft
