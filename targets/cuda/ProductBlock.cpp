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

/// Of blocks, at least: two for each multiprocessor of a large GPU. Small tiles on all of them end before large ones on some. Where they share tiles
/// three, since each has less to do.
static constexpr int64_t kFilled = 256, kShared = 384;

/// Of a part: so many that what it leaves, and somebody reads again, is less than what it reads.
static int64_t leastSteps(const BlockTile &tile) {
  constexpr int64_t least = 256, forEachRow = 4;
  return std::max(least, forEachRow * tile.rows);
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
                             kShared);
}

static int64_t bytesOfPart(const BlockTile &tile) { return 4 * tile.rows * tile.columns; }

/// From so many rows on there are enough blocks of such tiles, and rows for more than half of one.
static int64_t leastRows(const TiledProduct &p, const BlockTile &tile) {
  constexpr int64_t usualColumns = 8192; // where a symbol says how many there are
  int64_t columns = p.columns.asConstant().value_or(usualColumns);
  int64_t beside = llvm::divideCeil(std::max<int64_t>(columns, 1), tile.columns);
  for (SymExpr count : p.outer)
    beside *= std::max<int64_t>(count.asConstant().value_or(1), 1);
  beside *= std::max<int64_t>(p.steps.asConstant().value_or(1) / leastSteps(tile), 1);
  int64_t below = llvm::divideCeil(kFilled, beside) - 1;
  return std::max(tile.rows / 2, below * tile.rows) + 1;
}

/// The next tile, smaller than tile `i`, that any number of rows takes.
static size_t nextTile(const TiledProduct &p, ArrayRef<BlockTile> tiles, size_t i) {
  size_t next = i + 1;
  while (next + 1 < tiles.size() && leastRows(p, tiles[next]) >= leastRows(p, tiles[i]))
    ++next;
  return next;
}

/// Between two counts without a product of both: those of smaller tiles, no more than where larger ones begin; these may be a few less.
static SymExpr blocksFrom(const TiledProduct &p, ArrayRef<BlockTile> tiles, size_t i,
                          SymExpr rows) {
  const BlockTile &tile = tiles[i];
  SymExpr blocks = groupsOf(p, tile, rows) * partsOf(p, tile, rows);
  if (i + 1 == tiles.size())
    return blocks;
  size_t next = nextTile(p, tiles, i);
  SymExpr last = SymExpr::constant(rows.getContext(), leastRows(p, tile) - 1),
          most = blocksFrom(p, tiles, next, last);
  if (!partsOf(p, tiles[next], rows).isConstant(1)) // with fewer rows there may be as many
    most = SymExpr::max(most, SymExpr::constant(rows.getContext(), kShared));
  return SymExpr::max(blocks, SymExpr::min(blocksFrom(p, tiles, next, rows), most));
}

SymExpr blocksOf(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  return blocksFrom(p, tiles, 0, p.rows);
}

bool hasParts(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  return llvm::any_of(
      tiles, [&](const BlockTile &tile) { return !partsOf(p, tile, p.rows).isConstant(1); });
}

/// Of the largest tile.
SymExpr scratchOf(const TiledProduct &p, ArrayRef<BlockTile> tiles) {
  MLIRContext *context = p.rows.getContext();
  SymExpr most = SymExpr::constant(context, 0);
  for (const BlockTile &tile : tiles) {
    SymExpr rows = p.rows;
    most = SymExpr::max(most, BlockParts::scratchOf(groupsOf(p, tile, rows), partsOf(p, tile, rows),
                                                    bytesOfPart(tile), kShared));
  }
  return most;
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
    Value few = constantI64(k.b, leastRows(p, tiles[i]) - 1);
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
                           bool isRaw, Value flag)
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

TileStages TileStages::of(int64_t bytes) {
  constexpr int64_t mostBytes = 36 * 1024, most = 4;
  return {bytes, std::min(mostBytes / bytes, most)};
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
  for (int64_t i = 0; i < ahead; ++i)
    fill(k.add(firstStep, constantI64(b, i * tile.depth)), constantI64(b, i * stages.bytes),
         target);
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
