//===- Tiles.cpp - Products of f16, bf16 or bytes by tensor cores -------------------------------------===//
//
//   block of the grid: a tile of 128 x 128 results, where the GPU multiplies them        [tiles]
//     together, 32 rows for each of four warps; of 128 x 64, 64 x 64, or 32 x 64, 16 columns for each, where these are too few; where those
//     are, too, of 32 x 16, a quarter of the steps for each; of 16 x 16; of few steps 16 x 64; of few columns 128 x 16, 64 x 16
//     where there are few in any case, for some of the steps, with others (BlockParts.h)
//     for 32 steps of the sum, or 128; of bytes for twice as many
//       both operands in shared memory (FragmentTile.h), where they were copied to meanwhile
//       one instruction of the warp adds the products of 16 steps, or 32, to 16 x 8 sums  [multiply]
//       of 64 rows or more, where the GPU can, one of all warps to 64 x 64                      [together]
//     sums to shared memory, and out                                                    [store]
//
// The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/FragmentTile.h"
#include "targets/cuda/GroupProduct.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {
namespace {

/// Of a warp's lines, in shared memory: steps of one instruction are 32.
constexpr int64_t kWarps = kTileThreads / SimtMachine::kWarp, kStepBytes = 32, kDepthBytes = 64,
                  kGroupDepthBytes = 128, kColumns = 64, kBlocksOfEach = 2; // multiprocessor
static_assert(kStepBytes == kByteMatrixSteps && kStepBytes == 2 * kMatrixSteps);

/// What is multiplied, and by which GPU.
struct Factors {
  Type left, right;
  const SimtMachine &machine;

  Factors(const TiledProduct &p, const SimtMachine &machine)
      : left(p.leftType), right(p.rightType), machine(machine) {}
  bool areBytes() const { return isa<IntegerType>(left); }
  TileElements elements() const { return areBytes() ? TileElements::Bytes : TileElements::Halves; }
  int64_t bytes() const { return areBytes() ? 1 : 2; } ///< of one
  int64_t matrixSteps() const { return kStepBytes / bytes(); }
  bool hasGroupProducts() const { return machine.hasGroupProducts && !areBytes(); }
};

/// What a warp has of a tile: so many times 16 rows, and 8 columns; and where the others are.
struct WarpTile {
  int64_t rows, columns;
  enum { Below, Beside, Deeper } others;

  /// Whether its warps multiply together: each then has 16 of 64 rows.
  bool isTogether(const Factors &f) const {
    return f.hasGroupProducts() && others == Below && columns * kMatrix >= kColumns;
  }
  /// Steps of a warp.
  int64_t depth(const Factors &f) const {
    return (isTogether(f) ? kGroupDepthBytes : kDepthBytes) / f.bytes();
  }
  BlockTile block(const Factors &f) const {
    return {rows * kMatrixRows * (others == Below ? kWarps : 1),
            columns * kMatrix * (others == Beside ? kWarps : 1),
            depth(f) * (others == Deeper ? kWarps : 1), kBlocksOfEach * f.machine.multiprocessors,
            kBlocksOfEach * f.machine.multiprocessors};
  }
  TileStages stages(const Factors &f) const {
    BlockTile tile = block(f);
    return TileStages::of(f.bytes() * (tile.rows + tile.columns) * tile.depth, f.machine.tileBytes);
  }
};

constexpr WarpTile kTiles[] = {{2, 16, WarpTile::Below}, {2, 8, WarpTile::Below},
                               {1, 8, WarpTile::Below},  {2, 2, WarpTile::Beside},
                               {2, 2, WarpTile::Deeper}, {1, 2, WarpTile::Deeper}};
/// Of sums that have steps for one warp only.
constexpr WarpTile kShallowTiles[] = {{2, 16, WarpTile::Below},
                                      {2, 8, WarpTile::Below},
                                      {1, 8, WarpTile::Below},
                                      {2, 2, WarpTile::Beside},
                                      {1, 2, WarpTile::Beside}};
/// Of so few columns that others would be half empty; without the last two where steps are few, too.
constexpr WarpTile kNarrowTiles[] = {{2, 2, WarpTile::Below},
                                     {1, 2, WarpTile::Below},
                                     {2, 2, WarpTile::Deeper},
                                     {1, 2, WarpTile::Deeper}};

/// The largest has so many sums that a thread has registers for them only where those of columns, and lines of operands, need none.
ArrayRef<WarpTile> tilesOf(const TiledProduct &p, const SimtMachine &machine) {
  Factors factors(p, machine);
  bool hasRoom = factors.hasGroupProducts() && !p.holdsLines;
  std::optional<int64_t> steps = p.steps.asConstant();
  bool isShallow = steps && *steps * factors.bytes() <= kDepthBytes;
  constexpr int64_t narrow = 2 * kMatrix;
  if (p.columns.asConstant().value_or(kColumns) <= narrow)
    return ArrayRef(kNarrowTiles).drop_back(isShallow ? 2 : 0);
  return (isShallow ? ArrayRef(kShallowTiles) : ArrayRef(kTiles)).drop_front(hasRoom ? 0 : 1);
}

/// Emits the code of one thread.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const TiledProduct &p, const WarpTile &warp, Value shared, Value flag)
      : k(k), b(k.b), factors(p, k.machine), warp(warp),
        block(k, p, warp.block(factors), factors.elements(), flag), shared(shared),
        stages(warp.stages(factors)), depth(warp.depth(factors)),
        rowsApart(warp.isTogether(factors) ? kGroupRows : kMatrixRows) {
    stages.isForProducts = warp.isTogether(factors);
    number = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    firstRow = firstColumn = firstStep = constantI64(b, 0);
    if (warp.others == WarpTile::Below)
      firstRow = times(number, stages.isForProducts ? kMatrixRows : warp.rows * kMatrixRows);
    else if (warp.others == WarpTile::Beside)
      firstColumn = times(number, warp.columns * kMatrix);
    else
      firstStep = times(number, depth);
    Value four = constantI64(b, 4);
    group = b.create<arith::DivUIOp>(k.lane(), four);
    pair = times(b.create<arith::RemUIOp>(k.lane(), four), 2);
  }

  void emit() {
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(block.writer().sumType()));
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
  FragmentTile tileAt(const TileSource &operand, Value stage) {
    int64_t begin = &operand == &block.a() ? 0 : FragmentTile::bytes(block.a());
    return FragmentTile(k, k.sharedPlace(shared, stage), begin, operand);
  }

  /// [multiply]
  SmallVector<Value> multiply(Value stage, ValueRange carried) {
    FragmentTile left = tileAt(block.a(), stage), right = tileAt(block.b(), stage);
    SmallVector<Value> sums(carried);
    for (int64_t step = 0; step < depth; step += factors.matrixSteps()) {
      Value first = plus(firstStep, step);
      SmallVector<SmallVector<Value>> rows = rowsOf(left, first), columns;
      for (int64_t j = 0; j < warp.columns; j += 2)
        columns.push_back(
            right.fragments(plus(firstColumn, j * kMatrix), first, FragmentTile::Right));
      for (int64_t i = 0; i < warp.rows; ++i)
        for (int64_t j = 0; j < warp.columns; ++j)
          add(rows[size_t(i)], ArrayRef(columns[size_t(j / 2)]).slice(size_t(j % 2) * 2, 2),
              MutableArrayRef(sums).slice(size_t(i * warp.columns + j) * 4, 4));
    }
    return sums;
  }

  void add(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) {
    if (factors.areBytes())
      return multiplyAddBytes(k, factors.left, factors.right, left, right, sums);
    multiplyAdd(k, factors.left, left, right, sums);
  }

  /// [together]
  SmallVector<Value> multiplyTogether(Value stage, ValueRange carried) {
    FragmentTile left = tileAt(block.a(), stage), right = tileAt(block.b(), stage);
    SmallVector<GroupStep> steps;
    for (int64_t step = 0; step < depth; step += kMatrixSteps) {
      Value first = constantI64(b, step);
      steps.push_back({rowsOf(left, first), right.described(step)});
    }
    return multiplyAddGroup(k, factors.left, steps, !block.b().isDeepLast, carried);
  }

  SmallVector<SmallVector<Value>> rowsOf(const FragmentTile &left, Value step) {
    SmallVector<SmallVector<Value>> rows;
    for (int64_t i = 0; i < warp.rows; ++i)
      rows.push_back(left.fragments(plus(firstRow, i * rowsApart), step, FragmentTile::Left));
    return rows;
  }

  /// [store] Nobody reads the operands any more.
  void store(ArrayRef<Value> sums) {
    bool hasParts = warp.others == WarpTile::Deeper;
    Value begin = hasParts ? times(number, block.writer().bytes()) : constantI64(b, 0);
    Type two = VectorType::get({2}, block.writer().sumType());
    for (int64_t i = 0; i < warp.rows; ++i)
      for (int64_t j = 0; j < warp.columns; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          Value row = plus(k.add(firstRow, group), i * rowsApart + half * kMatrix),
                column = plus(k.add(firstColumn, pair), j * kMatrix);
          auto own = sums.slice(size_t((i * warp.columns + j) * 4 + half * 2), 2);
          Value neighbours = b.create<vector::FromElementsOp>(two, SmallVector<Value>(own));
          k.storeShared(neighbours, shared, k.add(begin, block.writer().place(row, column)));
        }
    if (hasParts)
      block.writer().addParts(shared, kWarps);
    else
      k.gatherBlock();
    block.store(shared);
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  Factors factors;
  WarpTile warp;
  ProductBlock block;
  Value shared;
  TileStages stages;
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
    bool areHalves = isHalf((*p)->leftType) && (*p)->leftType == (*p)->rightType;
    if (!areHalves && !(*p)->hasBytes())
      return {"tensor cores multiply f16 by f16, bf16 by bf16, and bytes"};
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

  Unit unit(func::FuncOp spec, const SimtMachine &) const override {
    return (*TiledProduct::match(spec))->hasBytes() ? Unit::ByteTiles : Unit::HalfTiles;
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec, const SimtMachine &machine) const override {
    SmallVector<WeightLayout> layouts = SimtSchedule::layouts(spec, machine);
    (*TiledProduct::match(spec))->setLayouts(layouts);
    return layouts;
  }

  void emit(SimtKernel &k) const override {
    TiledProduct::Owned product = *TiledProduct::match(k.spec);
    Factors factors(*product, k.machine);
    int64_t bytes = 0;
    for (const WarpTile &warp : tilesOf(*product, k.machine))
      bytes = std::max({bytes, warp.stages(factors).all(), sumBytes(warp.block(factors))});
    constexpr int64_t swizzled = 1024; // how units that read it want it to begin
    Value shared =
        k.sharedBytes(bytes + ProductBlock::kFlagBytes, factors.hasGroupProducts() ? swizzled : 16);
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
    Factors factors(p, machine);
    return llvm::map_to_vector(tilesOf(p, machine),
                               [&](const WarpTile &warp) { return warp.block(factors); });
  }
};

} // namespace

const SimtSchedule *simtTiles() {
  static const TilesSchedule schedule;
  return &schedule;
}

} // namespace weft
