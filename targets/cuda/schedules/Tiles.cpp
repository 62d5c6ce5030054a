//===- Tiles.cpp - Products of f16 or bf16 by tensor cores --------------------------------------------===//
//
//   block of the grid: a tile of 128 x 128 results, where the GPU multiplies them        [tiles]
//     together, 32 rows for each of four warps; of 128 x 64, 64 x 64, or 32 x 64, 16 columns for each, where these are too few; where those
//     are, too, of 32 x 16, a quarter of the steps for each; of 16 x 16
//     where there are few in any case, for some of the steps, with others (BlockParts.h)
//     for 32 steps of the sum, or 128
//       both operands in shared memory (HalfTile.h), where they were copied to meanwhile
//       one instruction of the warp adds the products of 16 steps to 16 x 8 sums        [multiply]
//       of 64 rows or more, where the GPU can, one of all warps to 64 x 64                      [together]
//     sums to shared memory, and out                                                    [store]
//
// The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/GroupProduct.h"
#include "targets/cuda/HalfTile.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWarps = kTileThreads / SimtMachine::kWarp, kDepth = 32, kGroupDepth = 64,
                  kColumns = 64, kBlocksOfEach = 2; // multiprocessor

/// What a warp has of a tile: so many times 16 rows, and 8 columns; and where the others are.
struct WarpTile {
  int64_t rows, columns;
  enum { Below, Beside, Deeper } others;

  /// Whether its warps multiply together: each then has 16 of 64 rows.
  bool isTogether(const SimtMachine &machine) const {
    return machine.hasGroupProducts && others == Below;
  }
  /// Steps of a warp.
  int64_t depth(const SimtMachine &machine) const {
    return isTogether(machine) ? kGroupDepth : kDepth;
  }
  BlockTile block(const SimtMachine &machine) const {
    return {rows * kMatrixRows * (others == Below ? kWarps : 1),
            columns * kMatrix * (others == Beside ? kWarps : 1),
            depth(machine) * (others == Deeper ? kWarps : 1),
            kBlocksOfEach * machine.multiprocessors, kBlocksOfEach * machine.multiprocessors};
  }
  TileStages stages(const SimtMachine &machine) const {
    BlockTile tile = block(machine);
    return TileStages::of(2 * (tile.rows + tile.columns) * tile.depth, machine.tileBytes);
  }
};

constexpr WarpTile kTiles[] = {{2, 16, WarpTile::Below}, {2, 8, WarpTile::Below},
                               {1, 8, WarpTile::Below},  {2, 2, WarpTile::Beside},
                               {2, 2, WarpTile::Deeper}, {1, 2, WarpTile::Deeper}};

/// The largest has so many sums that a thread has registers for them only where those of columns, and lines of operands, need none.
ArrayRef<WarpTile> tilesOf(const TiledProduct &p, const SimtMachine &machine) {
  bool hasRoom = machine.hasGroupProducts && !p.holdsLines;
  return ArrayRef(kTiles).drop_front(hasRoom ? 0 : 1);
}

/// Emits the code of one thread.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const TiledProduct &p, const WarpTile &warp, Value shared, Value flag)
      : k(k), b(k.b), warp(warp), block(k, p, warp.block(k.machine), /*isRaw=*/true, flag),
        shared(shared), stages(warp.stages(k.machine)), element(p.leftType),
        depth(warp.depth(k.machine)),
        rowsApart(warp.isTogether(k.machine) ? kGroupRows : kMatrixRows) {
    stages.isForProducts = warp.isTogether(k.machine);
    number = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    firstRow = firstColumn = firstStep = constantI64(b, 0);
    if (warp.others == WarpTile::Below)
      firstRow = times(number, stages.isForProducts ? kMatrixRows : warp.rows * kMatrixRows);
    else if (warp.others == WarpTile::Beside)
      firstColumn = times(number, warp.columns * kMatrix);
    else
      firstStep = times(number, kDepth);
    Value four = constantI64(b, 4);
    group = b.create<arith::DivUIOp>(k.lane(), four);
    pair = times(b.create<arith::RemUIOp>(k.lane(), four), 2);
  }

  void emit() {
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(warp.rows * warp.columns * 4), zero);
    sums = block.sum(
        sums, stages,
        [&](const TileSource &operand, Value stage) { return tileAt(operand, stage).target(); },
        [&](Value stage, ValueRange carried) {
          return stages.isForProducts ? multiplyTogether(stage, carried) : multiply(stage, carried);
        });
    store(sums);
  }

private:
  Value times(Value a, int64_t c) { return k.mul(a, constantI64(b, c)); }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }

  /// The tile of an operand in a stage.
  HalfTile tileAt(const TileSource &operand, Value stage) {
    int64_t begin = &operand == &block.a() ? 0 : HalfTile::bytes(block.a());
    return HalfTile(k, k.sharedPlace(shared, stage), begin, operand);
  }

  /// [multiply]
  SmallVector<Value> multiply(Value stage, ValueRange carried) {
    HalfTile left = tileAt(block.a(), stage), right = tileAt(block.b(), stage);
    SmallVector<Value> sums(carried);
    for (int64_t step = 0; step < depth; step += kMatrixSteps) {
      Value first = plus(firstStep, step);
      SmallVector<SmallVector<Value>> rows = rowsOf(left, first), columns;
      for (int64_t j = 0; j < warp.columns; j += 2)
        columns.push_back(right.fragments(plus(firstColumn, j * kMatrix), first, HalfTile::Right));
      for (int64_t i = 0; i < warp.rows; ++i)
        for (int64_t j = 0; j < warp.columns; ++j)
          multiplyAdd(k, element, rows[size_t(i)],
                      ArrayRef(columns[size_t(j / 2)]).slice(size_t(j % 2) * 2, 2),
                      MutableArrayRef(sums).slice(size_t(i * warp.columns + j) * 4, 4));
    }
    return sums;
  }

  /// [together]
  SmallVector<Value> multiplyTogether(Value stage, ValueRange carried) {
    HalfTile left = tileAt(block.a(), stage), right = tileAt(block.b(), stage);
    SmallVector<GroupStep> steps;
    for (int64_t step = 0; step < depth; step += kMatrixSteps) {
      Value first = constantI64(b, step);
      steps.push_back({rowsOf(left, first), right.described(step)});
    }
    return multiplyAddGroup(k, element, steps, !block.b().isDeepLast, carried);
  }

  SmallVector<SmallVector<Value>> rowsOf(const HalfTile &left, Value step) {
    SmallVector<SmallVector<Value>> rows;
    for (int64_t i = 0; i < warp.rows; ++i)
      rows.push_back(left.fragments(plus(firstRow, i * rowsApart), step, HalfTile::Left));
    return rows;
  }

  /// [store] Nobody reads the operands any more.
  void store(ArrayRef<Value> sums) {
    bool hasParts = warp.others == WarpTile::Deeper;
    Value own = hasParts ? times(number, block.writer().bytes()) : constantI64(b, 0);
    for (int64_t i = 0; i < warp.rows; ++i)
      for (int64_t j = 0; j < warp.columns; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          Value row = plus(k.add(firstRow, group), i * rowsApart + half * kMatrix),
                column = plus(k.add(firstColumn, pair), j * kMatrix);
          auto two = sums.slice(size_t((i * warp.columns + j) * 4 + half * 2), 2);
          Value neighbours = b.create<vector::FromElementsOp>(VectorType::get({2}, b.getF32Type()),
                                                              SmallVector<Value>(two));
          k.storeShared(neighbours, shared, k.add(own, block.writer().place(row, column)));
        }
    if (hasParts)
      block.writer().addParts(shared, kWarps);
    else
      k.gatherBlock();
    block.store(shared);
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  WarpTile warp;
  ProductBlock block;
  Value shared;
  TileStages stages;
  Type element;
  int64_t depth;                          ///< steps of the warp
  int64_t rowsApart;                      ///< from 16 rows of the warp to the next
  Value number;                           ///< of the warp
  Value firstRow, firstColumn, firstStep; ///< its part of the tile
  Value group, pair;                      ///< its row and pair of columns of the sums of a matrix
};

class TilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "product"; }
  int64_t threads() const override { return kTileThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<TiledProduct::Owned> p = TiledProduct::match(spec);
    if (!p)
      return p.decline();
    if (!isHalf((*p)->leftType) || (*p)->leftType != (*p)->rightType)
      return {"tensor cores multiply f16 by f16 and bf16 by bf16"};
    return {};
  }

  Launch launch(func::FuncOp spec, const SimtMachine &machine) const override {
    TiledProduct::Owned product = *TiledProduct::match(spec);
    Launch launch = blocks(blocksOf(*product, blockTiles(*product, machine)), 1);
    launch.scratch = scratchOf(*product, blockTiles(*product, machine));
    return launch;
  }

  bool isCounted(func::FuncOp spec, const SimtMachine &machine) const override {
    TiledProduct::Owned product = *TiledProduct::match(spec);
    return hasParts(*product, blockTiles(*product, machine));
  }

  Unit unit(func::FuncOp, const SimtMachine &) const override { return Unit::HalfTiles; }

  SmallVector<WeightLayout> layouts(func::FuncOp spec, const SimtMachine &machine) const override {
    SmallVector<WeightLayout> layouts = SimtSchedule::layouts(spec, machine);
    (*TiledProduct::match(spec))->setLayouts(layouts);
    return layouts;
  }

  void emit(SimtKernel &k) const override {
    TiledProduct::Owned product = *TiledProduct::match(k.spec);
    int64_t bytes = 0;
    for (const WarpTile &warp : tilesOf(*product, k.machine))
      bytes = std::max({bytes, warp.stages(k.machine).all(), sumBytes(warp.block(k.machine))});
    constexpr int64_t swizzled = 1024; // how units that read it want it to begin
    Value shared =
        k.sharedBytes(bytes + ProductBlock::kFlagBytes, k.machine.hasGroupProducts ? swizzled : 16);
    Value flag = k.sharedPlace(shared, constantI64(k.b, bytes));
    // [tiles]
    chooseTile(k, *product, blockTiles(*product, k.machine), [&](size_t i) {
      TileEmitter(k, *product, tilesOf(*product, k.machine)[i], shared, flag).emit();
    });
  }

private:
  static int64_t sumBytes(const BlockTile &tile) {
    return 4 * tile.rows * std::max(tile.columns, kColumns);
  }
  static SmallVector<BlockTile> blockTiles(const TiledProduct &p, const SimtMachine &machine) {
    return llvm::map_to_vector(tilesOf(p, machine),
                               [&](const WarpTile &warp) { return warp.block(machine); });
  }
};

} // namespace

const SimtSchedule *simtTiles() {
  static const TilesSchedule schedule;
  return &schedule;
}

} // namespace weft
