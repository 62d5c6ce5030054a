//===- ProductBlock.cpp ---------------------------------------------------------------------------===//
//
//   the block's tile: rows innermost, then columns, then outer dimensions                       [tile]
//   for all tiles of steps                                                                     [sum]
//     both operands of a later one on their way to shared memory                               [ahead]
//     products of this one
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

/// Of blocks, at least: two for each multiprocessor of a large GPU. Small tiles on all of them end before large ones on some.
static constexpr int64_t kFilled = 256;

static SymExpr blocksOf(const ProductShape &s, const BlockTile &tile, SymExpr rows) {
  SymExpr blocks =
      SymExpr::ceildiv(rows, tile.rows) * SymExpr::ceildiv(s.extent(s.n), tile.columns);
  for (unsigned factor : s.outer)
    blocks = blocks * s.extent(factor);
  return blocks;
}

/// From so many rows on there are enough blocks of such tiles, and rows for more than half of one.
static int64_t leastRows(const ProductShape &s, const BlockTile &tile) {
  constexpr int64_t usualColumns = 8192; // where a symbol says how many there are
  int64_t columns = s.extent(s.n).asConstant().value_or(usualColumns);
  int64_t beside = llvm::divideCeil(std::max<int64_t>(columns, 1), tile.columns);
  for (unsigned factor : s.outer)
    beside *= std::max<int64_t>(s.extent(factor).asConstant().value_or(1), 1);
  int64_t below = llvm::divideCeil(kFilled, beside) - 1;
  return std::max(tile.rows / 2, below * tile.rows) + 1;
}

/// Between two counts without a product of both: those of smaller tiles, no more than where larger ones begin; these may be a few less.
static SymExpr blocksOf(const ProductShape &s, ArrayRef<BlockTile> tiles, SymExpr rows) {
  SymExpr blocks = blocksOf(s, tiles.back(), rows);
  for (size_t i = tiles.size() - 1; i-- > 0;) {
    SymExpr last = SymExpr::constant(rows.getContext(), leastRows(s, tiles[i]) - 1);
    SymExpr most = blocksOf(s, tiles.drop_front(i + 1), last);
    blocks = SymExpr::max(blocksOf(s, tiles[i], rows), SymExpr::min(blocks, most));
  }
  return blocks;
}

SymExpr blocksOf(const ProductShape &s, ArrayRef<BlockTile> tiles) {
  return blocksOf(s, tiles, s.extent(s.m));
}

void chooseTile(SimtKernel &k, const ProductShape &s, ArrayRef<BlockTile> tiles,
                llvm::function_ref<void(size_t)> emit) {
  std::function<void(size_t)> from = [&](size_t i) {
    auto own = [&] {
      Value count = k.e.uniform(blocksOf(s, tiles[i], s.extent(s.m)));
      k.when(k.less(k.block, count), [&] { emit(i); });
      k.e.forget();
    };
    if (i + 1 == tiles.size())
      return own();
    Value few = constantI64(k.b, leastRows(s, tiles[i]) - 1);
    k.choose(k.less(few, k.e.uniform(s.extent(s.m))), own, [&] { from(i + 1); });
  };
  from(0);
}

TileSource ProductBlock::operand(bool isA) const {
  const ProductShape::Factors &factors = isA ? s.inA : s.inB;
  auto index = [this, isA](const IndexValue &at, const IndexValue &step) {
    IndexValue none;
    SmallVector<IndexValue> place =
        s.indexOf(isA ? s.inA : s.inB, outer, isA ? at : none, isA ? none : at, step);
    place.resize(cast<SymTensorType>((isA ? s.a : s.b).getType()).getRank(), k.e.constant(0));
    return place;
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
                           bool isRaw)
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
  counts.push_back(SymExpr::ceildiv(s.extent(s.n), tile.columns));
  counts.push_back(SymExpr::ceildiv(s.extent(s.m), tile.rows));
  outer = k.blockDigits(counts);
  firstRow = k.mul(outer.pop_back_val(), constantI64(k.b, tile.rows));
  firstColumn = k.mul(outer.pop_back_val(), constantI64(k.b, tile.columns));
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
                     if (stages.isForProducts)
                       k.showToProducts();
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
