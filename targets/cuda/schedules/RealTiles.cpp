//===- RealTiles.cpp - Products of f32, by a block of threads for each tile --------------------------------===//
//
//   block of the grid: a tile of 64 x 64 results; of 32 x 64 or 16 x 64 where these are too few;  [tiles]
//     of 16 x 16, a quarter of the steps for each warp, where those are, too
//     where there are few in any case, for some of the steps, with others (BlockParts.h)
//     for 16 steps of the sum, or 64
//       both operands in shared memory, a row of it for each step                                [steps]
//       each thread adds products to its sums: some rows, four columns                           [multiply]
//     sums to shared memory, and out                                                             [store]
//
// A sum is made of its products in the order of the steps, by fused multiply-add.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWarps = kTileThreads / SimtMachine::kWarp, kDepth = 16, kRowGroups = 8,
                  kWidth = 4, kUnrolled = 4, kColumns = 64;
/// Of a multiprocessor: blocks that it shall have, and that it has registers for.
constexpr int64_t kBlocksOfEach = 2, kBlocksAtOnce = 3;

/// Rows that a thread has, and whether each warp has its own steps: then it has all of a tile whose columns are a quarter.
struct ThreadTile {
  int64_t held;
  bool hasParts;
  BlockTile block(const SimtMachine &machine) const {
    int64_t parts = hasParts ? kWarps : 1;
    return {held * kRowGroups, kColumns / parts, kDepth * parts,
            kBlocksOfEach * machine.multiprocessors, kBlocksAtOnce * machine.multiprocessors};
  }
  TileStages stages(const SimtMachine &machine) const;
};
constexpr ThreadTile kTiles[] = {{8, false}, {4, false}, {2, false}, {2, true}};
/// Behind the rows of shared memory. With it, and with halves of every 16 elements exchanged in every second 8 steps, a warp that writes chunks
/// of 16 steps of 8 rows meets every bank once.
constexpr int64_t kPadding = 4, kHalf = 8;
/// Of tiles on their way.
constexpr int64_t kBytes = 36 * 1024;

TileStages ThreadTile::stages(const SimtMachine &machine) const {
  BlockTile tile = block(machine);
  return TileStages::of(4 * (tile.rows + tile.columns + 2 * kPadding) * tile.depth, kBytes);
}

/// Emits the code of one thread.
class RealEmitter {
public:
  RealEmitter(SimtKernel &k, const TiledProduct &p, const ThreadTile &own, Value shared, Value flag)
      : k(k), b(k.b), held(own.held), hasParts(own.hasParts), tile(own.block(k.machine)),
        stages(own.stages(k.machine)), block(k, p, tile, TileElements::Reals, flag),
        shared(shared) {
    part = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    Value thread = hasParts ? k.lane() : k.inBlock;
    firstStep = hasParts ? k.mul(part, constantI64(b, kDepth)) : constantI64(b, 0);
    Value perRow = constantI64(b, tile.columns / kWidth);
    firstRow = k.mul(b.create<arith::DivUIOp>(thread, perRow), constantI64(b, held));
    firstColumn = k.mul(b.create<arith::RemUIOp>(thread, perRow), constantI64(b, kWidth));
  }

  void emit() {
    Type row = VectorType::get({kWidth}, b.getF32Type());
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(row));
    SmallVector<Value> sums(size_t(held), zero);
    sums = block.sum(
        sums, stages,
        [&](const TileSource &operand, Value stage) { return targetOf(operand, stage); },
        [&](Value stage, ValueRange carried) { return multiply(stage, carried); });
    // [store] Nobody reads the operands any more.
    Value own = hasParts ? k.mul(part, constantI64(b, block.writer().bytes())) : constantI64(b, 0);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value row = k.add(firstRow, constantI64(b, int64_t(i)));
      k.storeShared(inOrder(sum), shared, k.add(own, block.writer().place(row, firstColumn)));
    }
    if (hasParts)
      block.writer().addParts(shared, kWarps);
    else
      k.gatherBlock();
    block.store(shared);
  }

private:
  Value bytes(Value numbers) { return k.mul(numbers, constantI64(b, 4)); }
  bool isA(const TileSource &operand) const { return &operand == &block.a(); }
  int64_t lineOf(const TileSource &operand) const {
    if (!hasParts)
      return operand.size + kPadding;
    return operand.size + (!operand.isDeepLast ? 0 : isA(operand) ? kPadding / 2 : kPadding);
  }
  /// What elements of a line change places by. Of 64 steps, chunks lie four lines apart, and rows are read by two.
  Value turnOf(const TileSource &operand, Value step) {
    if (!hasParts)
      return b.create<arith::AndIOp>(step, constantI64(b, kHalf));
    if (!operand.isDeepLast)
      return constantI64(b, 0);
    Value above = b.create<arith::DivUIOp>(step, constantI64(b, isA(operand) ? 2 * kHalf : kHalf));
    return k.mul(b.create<arith::AndIOp>(above, constantI64(b, 3)),
                 constantI64(b, isA(operand) ? kWidth / 2 : kWidth));
  }
  /// [steps] B lies behind A.
  Value placeOf(const TileSource &operand, Value at, Value step) {
    int64_t begin = isA(operand) ? 0 : lineOf(block.a()) * tile.depth;
    Value line = k.mul(step, constantI64(b, lineOf(operand)));
    at = b.create<arith::XOrIOp>(at, turnOf(operand, step));
    return bytes(k.add(k.add(line, at), constantI64(b, begin)));
  }

  /// Of 64 steps of B a warp writes all for two lines. Four columns that are read at once stay neighbours, so halves of these change places in the last 32
  /// steps, which other warps read: every bank is met once.
  bool isExchanged(const TileSource &operand) const {
    return hasParts && !isA(operand) && operand.isDeepLast;
  }
  Value exchanged(const TileSource &operand, Value at, Value step) {
    if (!isExchanged(operand))
      return at;
    Value above = b.create<arith::DivUIOp>(step, constantI64(b, tile.depth / 2));
    return b.create<arith::XOrIOp>(at, k.mul(above, constantI64(b, kWidth / 2)));
  }
  /// Of such columns, in their order.
  Value inOrder(Value sum) {
    if (!isExchanged(block.b()))
      return sum;
    Value isUpper = k.less(constantI64(b, kWarps / 2 - 1), part),
          other = b.create<vector::ShuffleOp>(sum, sum, ArrayRef<int64_t>{2, 3, 0, 1});
    return b.create<arith::SelectOp>(isUpper, other, sum);
  }

  /// Chunks of steps lie apart.
  TileTarget targetOf(const TileSource &operand, Value stage) {
    Value begin = k.sharedPlace(shared, stage);
    const TileSource *own = &operand;
    if (!operand.isDeepLast)
      return {[this, own, begin](Value at, Value step, Value chunk) {
                k.storeShared(chunk, begin, placeOf(*own, at, step));
              },
              [this, own, begin](Value at, Value step) {
                return k.sharedPlace(begin, placeOf(*own, at, step));
              }};
    return {[this, own, begin](Value at, Value step, Value chunk) {
              at = exchanged(*own, at, step);
              for (int64_t i = 0; i < kWidth; ++i)
                k.storeShared(b.create<vector::ExtractOp>(chunk, i), begin,
                              placeOf(*own, at, k.add(step, constantI64(b, i))));
            },
            {}};
  }

  /// [multiply]
  SmallVector<Value> multiply(Value stage, ValueRange sums) {
    Value begin = k.sharedPlace(shared, stage);
    return k.loop(constantI64(b, 0), constantI64(b, kDepth), kUnrolled, sums,
                  [&](Value first, ValueRange carried) {
                    SmallVector<Value> next(carried);
                    for (int64_t i = 0; i < kUnrolled; ++i)
                      addStep(begin, k.add(k.add(firstStep, first), constantI64(b, i)), next);
                    return next;
                  });
  }

  void addStep(Value begin, Value step, SmallVector<Value> &sums) {
    Type four = VectorType::get({kWidth}, b.getF32Type());
    Value columns = k.loadShared(four, begin, placeOf(block.b(), firstColumn, step));
    for (int64_t row = 0; row < held; row += std::min(held, kWidth)) {
      int64_t width = std::min(held, kWidth);
      Value rows = k.loadShared(VectorType::get({width}, b.getF32Type()), begin,
                                placeOf(block.a(), k.add(firstRow, constantI64(b, row)), step));
      for (int64_t i = 0; i < width; ++i) {
        Value factor = b.create<vector::SplatOp>(b.create<vector::ExtractOp>(rows, i), four);
        size_t sum = size_t(row + i);
        sums[sum] = b.create<math::FmaOp>(factor, columns, sums[sum]);
      }
    }
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  int64_t held;
  bool hasParts;
  BlockTile tile;
  TileStages stages;
  ProductBlock block;
  Value shared, part, firstRow, firstColumn, firstStep;
};

class RealTilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "tile"; }
  int64_t threads() const override { return kTileThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<TiledProduct::Owned> p = TiledProduct::match(spec);
    if (!p)
      return p.decline();
    return (*p)->hasBytes() ? Decline::otherKind("bytes are multiplied") : Decline{};
  }

  Launch launch(func::FuncOp spec, const SimtMachine &machine) const override {
    TiledProduct::Owned product = *TiledProduct::match(spec);
    Launch launch = blocks(blocksOf(*product, blockTiles(machine)), 1);
    launch.scratch = scratchOf(*product, blockTiles(machine));
    return launch;
  }

  bool isCounted(func::FuncOp spec, const SimtMachine &machine) const override {
    return hasParts(**TiledProduct::match(spec), blockTiles(machine));
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec, const SimtMachine &machine) const override {
    SmallVector<WeightLayout> layouts = SimtSchedule::layouts(spec, machine);
    (*TiledProduct::match(spec))->setLayouts(layouts);
    return layouts;
  }

  void emit(SimtKernel &k) const override {
    TiledProduct::Owned product = *TiledProduct::match(k.spec);
    int64_t bytes = 0;
    for (const ThreadTile &own : kTiles)
      bytes = std::max({bytes, own.stages(k.machine).all(),
                        4 * own.block(k.machine).rows * kColumns}); // of sums
    Value shared = k.sharedBytes(bytes + ProductBlock::kFlagBytes);
    Value flag = k.sharedPlace(shared, constantI64(k.b, bytes));
    // [tiles]
    chooseTile(k, *product, blockTiles(k.machine),
               [&](size_t i) { RealEmitter(k, *product, kTiles[i], shared, flag).emit(); });
  }

private:
  static SmallVector<BlockTile> blockTiles(const SimtMachine &machine) {
    return llvm::map_to_vector(kTiles, [&](const ThreadTile &own) { return own.block(machine); });
  }
};

} // namespace

const SimtSchedule *simtRealTiles() {
  static const RealTilesSchedule schedule;
  return &schedule;
}

} // namespace weft
