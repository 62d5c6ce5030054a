//===- Tiles.cpp - Products of f16 or bf16 by tensor cores --------------------------------------------===//
//
//   block of the grid: a tile of 128 x 64 results, 32 rows for each of four warps;      [tiles]
//     of 32 x 64, 16 columns for each, where there are 128 rows at most;
//     of 32 x 16, a quarter of the steps for each, where there are 32; of 16 x 16 where there are 16
//     for 32 steps of the sum, or 128
//       both operands in shared memory (HalfTile.h), where they were copied to meanwhile
//       one instruction of the warp adds the products of 16 steps to 16 x 8 sums        [multiply]
//     sums to shared memory, and out                                                    [store]
//
// The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/HalfTile.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWarps = kTileThreads / SimtMachine::kWarp, kDepth = 32;

/// What a warp has of a tile: so many times 16 rows, and 8 columns; and where the others are.
struct WarpTile {
  int64_t rows, columns;
  enum { Below, Beside, Deeper } others;
  BlockTile block() const {
    return {rows * kMatrixRows * (others == Below ? kWarps : 1),
            columns * kMatrix * (others == Beside ? kWarps : 1),
            kDepth * (others == Deeper ? kWarps : 1)};
  }
  TileStages stages() const {
    BlockTile tile = block();
    return TileStages::of(2 * (tile.rows + tile.columns) * tile.depth);
  }
};
constexpr WarpTile kMany{2, 8, WarpTile::Below}, kSome{2, 2, WarpTile::Beside},
    kFew{2, 2, WarpTile::Deeper}, kFewest{1, 2, WarpTile::Deeper};

Type elementOf(Value operand) { return cast<SymTensorType>(operand.getType()).getElementType(); }

/// Emits the code of one thread.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const ProductShape &s, const WarpTile &warp, Value shared)
      : k(k), b(k.b), warp(warp), block(k, s, warp.block(), kMany.block().rows, /*isRaw=*/true),
        shared(shared), stages(warp.stages()), element(elementOf(s.a)) {
    number = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    firstRow = firstColumn = firstStep = constantI64(b, 0);
    if (warp.others == WarpTile::Below)
      firstRow = times(number, warp.rows * kMatrixRows);
    else if (warp.others == WarpTile::Beside)
      firstColumn = times(number, warp.columns * kMatrix);
    else
      firstStep = times(number, kDepth);
    Value four = constantI64(b, 4);
    group = b.create<arith::DivUIOp>(k.lane(), four);
    pair = times(b.create<arith::RemUIOp>(k.lane(), four), 2);
  }

  void emit() {
    k.when(block.isInside(), [&] { emitTile(); });
  }

private:
  void emitTile() {
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(warp.rows * warp.columns * 4), zero);
    sums = block.sum(
        sums, stages,
        [&](const TileSource &operand, Value stage) { return tileAt(operand, stage).target(); },
        [&](Value stage, ValueRange carried) { return multiply(stage, carried); });
    store(sums);
  }

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
    for (int64_t step = 0; step < kDepth; step += kMatrixSteps) {
      Value first = plus(firstStep, step);
      SmallVector<SmallVector<Value>> rows, columns;
      for (int64_t i = 0; i < warp.rows; ++i)
        rows.push_back(left.fragments(plus(firstRow, i * kMatrixRows), first, HalfTile::Left));
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

  /// [store] Nobody reads the operands any more.
  void store(ArrayRef<Value> sums) {
    bool hasParts = warp.others == WarpTile::Deeper;
    Value own = hasParts ? times(number, block.writer().bytes()) : constantI64(b, 0);
    for (int64_t i = 0; i < warp.rows; ++i)
      for (int64_t j = 0; j < warp.columns; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          Value row = plus(k.add(firstRow, group), i * kMatrixRows + half * kMatrix),
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
  Value number;                           ///< of the warp
  Value firstRow, firstColumn, firstStep; ///< its part of the tile
  Value group, pair;                      ///< its row and pair of columns of the sums of a matrix
};

class TilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "product"; }
  int64_t threads() const override { return kTileThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<ProductShape> s = ProductShape::match(spec);
    if (!s)
      return s.decline();
    if (!isHalf(elementOf(s->a)) || elementOf(s->a) != elementOf(s->b))
      return {"tensor cores multiply f16 by f16 and bf16 by bf16"};
    return {};
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    return blocks(blocksOf(*ProductShape::match(spec), kMany.block().rows), 1);
  }

  Unit unit(func::FuncOp, const SimtMachine &) const override { return Unit::HalfTiles; }

  void emit(SimtKernel &k) const override {
    ProductShape s = *ProductShape::match(k.spec);
    int64_t bytes = 4 * kMany.block().rows * kStripe; // of sums
    for (const WarpTile &warp : {kMany, kSome, kFew, kFewest})
      bytes = std::max(bytes, warp.stages().all());
    Value shared = k.sharedBytes(bytes);
    // [tiles] With each of them the grid is the same.
    auto hasMoreThan = [&](int64_t rows) {
      return k.less(constantI64(k.b, rows), k.e.uniform(s.extent(s.m)));
    };
    auto few = [&] {
      k.choose(
          hasMoreThan(kFewest.block().rows), [&] { emitWith(k, s, kFew, shared); },
          [&] { emitWith(k, s, kFewest, shared); });
    };
    auto some = [&] {
      k.choose(
          hasMoreThan(kFew.block().rows), [&] { emitWith(k, s, kSome, shared); }, few);
    };
    k.choose(
        hasMoreThan(kMany.block().rows), [&] { emitWith(k, s, kMany, shared); }, some);
  }

private:
  static void emitWith(SimtKernel &k, const ProductShape &s, const WarpTile &warp, Value shared) {
    TileEmitter(k, s, warp, shared).emit();
    k.e.forget();
  }
};

} // namespace

const SimtSchedule *simtTiles() {
  static const TilesSchedule schedule;
  return &schedule;
}

} // namespace weft
