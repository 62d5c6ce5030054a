//===- ProductBlock.cpp ---------------------------------------------------------------------------===//
//
//   the block's tile: parts of the steps innermost, then rows, columns, outer dimensions        [tile]
//   for all tiles of steps                                                                     [sum]
//     both operands of a later one on their way to shared memory                               [ahead]
//     products of this one
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

/// Of a part, of any tile and of this one: so many that what it leaves, and somebody reads again, is less than what it reads.
static constexpr int64_t kLeastSteps = 256;
static int64_t leastSteps(const BlockTile &tile) {
  constexpr int64_t forEachRow = 4;
  return std::max(kLeastSteps, forEachRow * tile.rows);
}

/// Of blocks that have different tiles.
static SymExpr groupsOf(const TiledProduct &p, const BlockTile &tile, SymExpr rows) {
  SymExpr blocks = SymExpr::ceildiv(rows, tile.rows) * SymExpr::ceildiv(p.columns, tile.columns);
  for (SymExpr count : p.outer)
    blocks = blocks * count;
  return blocks;
}

static SymExpr partsOf(const TiledProduct &p, const BlockTile &tile, SymExpr rows) {
  return BlockParts::countOf(groupsOf(p, tile, rows), SymExpr::floordiv(p.steps, leastSteps(tile)),
                             tile.atOnce);
}

static int64_t bytesOfPart(const BlockTile &tile) { return 4 * tile.rows * tile.columns; }

/// From so many rows on there are enough blocks of such tiles, as small tiles on all multiprocessors end before large ones on some, and rows for more
/// than half of one where others have fewer.
static int64_t leastRows(const TiledProduct &p, ArrayRef<BlockTile> tiles, size_t i) {
  constexpr int64_t usualColumns = 8192; // where a symbol says how many there are
  const BlockTile &tile = tiles[i];
  int64_t columns = p.columns.asConstant().value_or(usualColumns);
  int64_t beside = llvm::divideCeil(std::max<int64_t>(columns, 1), tile.columns);
  for (SymExpr count : p.outer)
    beside *= std::max<int64_t>(count.asConstant().value_or(1), 1);
  beside *= std::max<int64_t>(p.steps.asConstant().value_or(1) / leastSteps(tile), 1);
  int64_t below = llvm::divideCeil(tile.filled, beside) - 1,
          half = tiles.back().rows < tile.rows ? tile.rows / 2 : 0;
  return std::max(half, below * tile.rows) + 1;
}

/// The next tile, smaller than tile `i`, that any number of rows takes.
static size_t nextTile(const TiledProduct &p, ArrayRef<BlockTile> tiles, size_t i) {
  size_t next = i + 1;
  while (next + 1 < tiles.size() && leastRows(p, tiles, next) >= leastRows(p, tiles, i))
    ++next;
  return next;
}

/// Of tiles that some number of rows takes, those that any takes: the largest, and each that fewer rows take than those before it.
static SmallVector<size_t> takenTiles(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  SmallVector<size_t> taken{0};
  while (taken.back() + 1 < tiles.size())
    taken.push_back(nextTile(p, tiles, taken.back()));
  return taken;
}

/// Of the smallest tiles with all their parts; where tiles are larger, or fill the GPU, there are no more blocks with than without them.
static SymExpr sharedBlocks(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  SymExpr parts = SymExpr::floordiv(p.steps, kLeastSteps),
          all = groupsOf(p, tiles.back(), p.rows) * parts;
  return SymExpr::min(all, SymExpr::constant(all.getContext(), tiles.back().atOnce));
}

/// Enough for each tile: of all rows, or of as many as are left to it by larger tiles. Blocks that are too many end at once. A sum of its own for each tile
/// would be a formula of many pages.
SymExpr blocksOf(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  SymExpr rows = p.rows, blocks = groupsOf(p, tiles.front(), rows);
  SmallVector<size_t> taken = takenTiles(p, tiles);
  for (auto [larger, own] : llvm::zip(taken, ArrayRef(taken).drop_front())) {
    SymExpr last = SymExpr::constant(rows.getContext(), leastRows(p, tiles, larger) - 1);
    SymExpr few = SymExpr::min(groupsOf(p, tiles[own], rows), groupsOf(p, tiles[own], last));
    blocks = SymExpr::max(few, blocks);
  }
  SymExpr none = SymExpr::constant(rows.getContext(), 0),
          shared = hasParts(p, tiles) ? sharedBlocks(p, tiles) : none,
          all = SymExpr::max(shared, blocks);
  // There are never more than the smallest tiles and all parts together.
  return all.isOverflow() ? groupsOf(p, tiles.back(), rows) + shared : all;
}

bool hasParts(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  return llvm::any_of(
      tiles, [&](const BlockTile &tile) { return !partsOf(p, tile, p.rows).isConstant(1); });
}

/// Blocks of the largest tile have the most, and cover as many rows and columns as any; there are no tiles of more than twice the rows.
SymExpr scratchOf(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  MLIRContext *context = p.rows.getContext();
  auto constant = [&](int64_t value) { return SymExpr::constant(context, value); };
  if (!hasParts(p, tiles))
    return constant(0);
  const BlockTile &most = tiles.front(), &least = tiles.back();
  SymExpr rows = SymExpr::min(SymExpr::ceildiv(p.rows, least.rows) * (2 * least.rows),
                              constant(most.rows)),
          all = groupsOf(p, most, p.rows) * SymExpr::floordiv(p.steps, kLeastSteps);
  return rows * SymExpr::min(all, constant(most.atOnce)) * (4 * most.columns);
}

void chooseTile(SimtKernel &k, const TiledProduct &p, ArrayRef<BlockTile> tiles,
                llvm::function_ref<void(size_t)> emit) {
  std::function<void(size_t)> from = [&](size_t i) {
    auto own = [&] {
      SymExpr rows = p.rows;
      Value count = k.e.uniform(groupsOf(p, tiles[i], rows) * partsOf(p, tiles[i], rows));
      k.when(k.less(k.block, count), [&] { emit(i); });
      k.e.forget();
    };
    if (i + 1 == tiles.size())
      return own();
    Value few = constantI64(k.b, leastRows(p, tiles, i) - 1);
    k.choose(k.less(few, k.e.uniform(p.rows)), own, [&] { from(nextTile(p, tiles, i)); });
  };
  from(0);
}

/// [tile] Blocks that share one follow each other.
ProductBlock::Place ProductBlock::placeOf(SimtKernel &k, const TiledProduct &p,
                                          const BlockTile &tile) {
  SmallVector<SymExpr> counts(p.outer);
  counts.push_back(SymExpr::ceildiv(p.columns, tile.columns));
  counts.push_back(SymExpr::ceildiv(p.rows, tile.rows));
  SymExpr partCount = partsOf(p, tile, p.rows);
  bool isShared = !partCount.isConstant(1);
  if (isShared)
    counts.push_back(partCount);
  Place place{k.blockDigits(counts), {}, {}};
  if (isShared)
    place.outer.pop_back();
  place.row = k.mul(place.outer.pop_back_val(), constantI64(k.b, tile.rows));
  place.column = k.mul(place.outer.pop_back_val(), constantI64(k.b, tile.columns));
  return place;
}

static TileSource withTile(TileSource source, int64_t size, int64_t depth) {
  source.size = size, source.depth = depth;
  return source;
}

ProductBlock::ProductBlock(SimtKernel &k, const TiledProduct &product, const BlockTile &tile,
                           TileElements elements, Value flag)
    : k(k), p(product), tile(tile), reader(k, elements), place(placeOf(k, p, tile)),
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
              p.run} {
  shareSteps(partsOf(p, tile, p.rows), flag);
}

/// Parts have whole tiles, the last ones less, or nothing.
void ProductBlock::shareSteps(SymExpr count, Value flag) {
  firstStep = constantI64(k.b, 0);
  endOfSteps = k.e.uniform(p.steps);
  if (count.isConstant(1))
    return;
  parts.emplace(k, count, bytesOfPart(tile), flag);
  SymExpr each = SymExpr::ceildiv(p.steps, count * tile.depth) * tile.depth;
  Value own = k.e.uniform(each);
  firstStep = k.multipleOf(k.mul(parts->part, own), tile.depth);
  endOfSteps = k.b.create<arith::MinSIOp>(endOfSteps, k.add(firstStep, own));
}

TileStages TileStages::of(int64_t bytes, int64_t all) {
  constexpr int64_t most = 6;
  return {bytes, std::min(all / bytes, most)};
}

/// [ahead] Both operands' tiles of these steps, where there are any, to a stage: a group of copies.
void ProductBlock::fill(Value step, Value stage, TargetOf target) {
  k.when(k.less(step, endOfSteps), [&] {
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
  k.loop(constantI64(b, 0), constantI64(b, ahead), 1, [&](Value i) {
    k.e.forget();
    Value step = k.add(firstStep, k.mul(i, constantI64(b, tile.depth)));
    fill(k.multipleOf(step, tile.depth), k.mul(i, constantI64(b, stages.bytes)), target);
    k.e.forget();
  });
  auto behind = [&](Value stage) -> Value {
    Value next = k.add(stage, constantI64(b, stages.bytes)), all = constantI64(b, stages.all());
    Value isLast = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, next, all);
    return b.create<arith::SelectOp>(isLast, constantI64(b, 0), next);
  };
  SmallVector<Value> carried{constantI64(b, 0), constantI64(b, ahead * stages.bytes)};
  llvm::append_range(carried, sums);
  carried = k.loop(firstStep, endOfSteps, tile.depth, carried, [&](Value step, ValueRange carried) {
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
