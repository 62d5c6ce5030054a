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

static SymExpr blocksOf(const TiledProduct &p, const BlockTile &tile, SymExpr rows) {
  SymExpr blocks = SymExpr::ceildiv(rows, tile.rows) * SymExpr::ceildiv(p.columns, tile.columns);
  for (SymExpr count : p.outer)
    blocks = blocks * count;
  return blocks;
}

/// From so many rows on there are enough blocks of such tiles, and rows for more than half of one.
static int64_t leastRows(const TiledProduct &p, const BlockTile &tile) {
  constexpr int64_t usualColumns = 8192; // where a symbol says how many there are
  int64_t columns = p.columns.asConstant().value_or(usualColumns);
  int64_t beside = llvm::divideCeil(std::max<int64_t>(columns, 1), tile.columns);
  for (SymExpr count : p.outer)
    beside *= std::max<int64_t>(count.asConstant().value_or(1), 1);
  int64_t below = llvm::divideCeil(kFilled, beside) - 1;
  return std::max(tile.rows / 2, below * tile.rows) + 1;
}

/// Between two counts without a product of both: those of smaller tiles, no more than where larger ones begin; these may be a few less.
static SymExpr blocksOf(const TiledProduct &p, ArrayRef<BlockTile> tiles, SymExpr rows) {
  SymExpr blocks = blocksOf(p, tiles.back(), rows);
  for (size_t i = tiles.size() - 1; i-- > 0;) {
    SymExpr last = SymExpr::constant(rows.getContext(), leastRows(p, tiles[i]) - 1);
    SymExpr most = blocksOf(p, tiles.drop_front(i + 1), last);
    blocks = SymExpr::max(blocksOf(p, tiles[i], rows), SymExpr::min(blocks, most));
  }
  return blocks;
}

SymExpr blocksOf(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  return blocksOf(p, tiles, p.rows);
}

void chooseTile(SimtKernel &k, const TiledProduct &p, ArrayRef<BlockTile> tiles,
                llvm::function_ref<void(size_t)> emit) {
  std::function<void(size_t)> from = [&](size_t i) {
    auto own = [&] {
      Value count = k.e.uniform(blocksOf(p, tiles[i], p.rows));
      k.when(k.less(k.block, count), [&] { emit(i); });
      k.e.forget();
    };
    if (i + 1 == tiles.size())
      return own();
    Value few = constantI64(k.b, leastRows(p, tiles[i]) - 1);
    k.choose(k.less(few, k.e.uniform(p.rows)), own, [&] { from(i + 1); });
  };
  from(0);
}

/// [tile]
ProductBlock::Place ProductBlock::placeOf(SimtKernel &k, const TiledProduct &p,
                                          const BlockTile &tile) {
  SmallVector<SymExpr> counts(p.outer);
  counts.push_back(SymExpr::ceildiv(p.columns, tile.columns));
  counts.push_back(SymExpr::ceildiv(p.rows, tile.rows));
  Place place{k.blockDigits(counts), {}, {}};
  place.row = k.mul(place.outer.pop_back_val(), constantI64(k.b, tile.rows));
  place.column = k.mul(place.outer.pop_back_val(), constantI64(k.b, tile.columns));
  return place;
}

static TileSource withTile(TileSource source, int64_t size, int64_t depth) {
  source.size = size, source.depth = depth;
  return source;
}

ProductBlock::ProductBlock(SimtKernel &k, const TiledProduct &product, const BlockTile &tile,
                           bool isRaw)
    : k(k), p(product), tile(tile), reader(k, isRaw), place(placeOf(k, p, tile)),
      operandA(withTile(p.left(k, place.outer), tile.rows, tile.depth)),
      operandB(withTile(p.right(k, place.outer), tile.columns, tile.depth)),
      results{k,
              p.root,
              p.results(k, place.outer),
              p.rows,
              p.columns,
              tile.rows,
              tile.columns,
              std::max(tile.columns, TileWriter::kColumns),
              p.run} {}

TileStages TileStages::of(int64_t bytes) {
  constexpr int64_t mostBytes = 36 * 1024, most = 4;
  return {bytes, std::min(mostBytes / bytes, most)};
}

/// [ahead] Both operands' tiles of these steps, where there are any, to a stage: a group of copies.
void ProductBlock::fill(Value step, Value stage, TargetOf target) {
  k.when(k.less(step, k.e.uniform(p.steps)), [&] {
    reader.fill(operandA, place.row, step, target(operandA, stage), heldA);
    reader.fill(operandB, place.column, step, target(operandB, stage), heldB);
  });
  k.endCopies();
}

/// [sum] Behind the barrier a tile is there for all, and nobody reads the one before it, whose stage is filled next.
SmallVector<Value> ProductBlock::sum(ValueRange sums, const TileStages &stages, TargetOf target,
                                     Multiply multiply) {
  ImplicitLocOpBuilder &b = k.b;
  heldA = reader.hold(operandA, place.row), heldB = reader.hold(operandB, place.column);
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
  carried = k.loop(constantI64(b, 0), k.e.uniform(p.steps), tile.depth, carried,
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
