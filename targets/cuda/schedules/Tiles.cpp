//===- Tiles.cpp - Products of f16 or bf16 by tensor cores --------------------------------------------===//
//
//   block of the grid: a tile of 128 x 64 results, 32 rows for each of four warps;      [tiles]
//     of 16 x 64, 16 columns for each, where there are 16 rows at most
//     for 32 steps of the sum
//       both operands in shared memory (HalfTile.h)
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

constexpr int64_t kColumns = 64, kDepth = 32;

/// What a warp has of a tile: so many times 16 rows, and 8 columns; warps lie below, or beside each other.
struct WarpTile {
  int64_t rows, columns;
  bool isBelow;
  BlockTile block() const {
    int64_t warps = kTileThreads / SimtMachine::kWarp;
    return {rows * kMatrixRows * (isBelow ? warps : 1), kColumns, kDepth};
  }
};
constexpr WarpTile kMany{2, 8, true}, kFew{1, 2, false};

Type elementOf(Value operand) { return cast<SymTensorType>(operand.getType()).getElementType(); }

/// Emits the code of one thread.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const ProductShape &s, const WarpTile &warp, Value shared)
      : k(k), b(k.b), warp(warp), block(k, s, warp.block(), /*isRaw=*/true), shared(shared),
        left(k, shared, 0, block.a()), right(k, shared, HalfTile::bytes(block.a()), block.b()),
        element(elementOf(s.a)) {
    Value number = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp)),
          zero = constantI64(b, 0);
    firstRow = warp.isBelow ? times(number, warp.rows * kMatrixRows) : zero;
    firstColumn = warp.isBelow ? zero : times(number, warp.columns * kMatrix);
    Value four = constantI64(b, 4);
    group = b.create<arith::DivUIOp>(k.lane(), four);
    pair = times(b.create<arith::RemUIOp>(k.lane(), four), 2);
  }

  void emit() {
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(warp.rows * warp.columns * 4), zero);
    sums = block.sum(
        sums,
        [&](const TileSource &operand, Value at, Value step, Value chunk) {
          (&operand == &block.a() ? left : right).put(at, step, chunk);
        },
        [&](ValueRange carried) { return multiply(carried); });
    store(sums);
  }

private:
  Value times(Value a, int64_t c) { return k.mul(a, constantI64(b, c)); }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }

  /// [multiply]
  SmallVector<Value> multiply(ValueRange carried) {
    SmallVector<Value> sums(carried);
    for (int64_t step = 0; step < kDepth; step += kMatrixSteps) {
      Value first = constantI64(b, step);
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
    for (int64_t i = 0; i < warp.rows; ++i)
      for (int64_t j = 0; j < warp.columns; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          Value row = plus(k.add(firstRow, group), i * kMatrixRows + half * kMatrix),
                column = plus(k.add(firstColumn, pair), j * kMatrix);
          auto two = sums.slice(size_t((i * warp.columns + j) * 4 + half * 2), 2);
          Value neighbours = b.create<vector::FromElementsOp>(VectorType::get({2}, b.getF32Type()),
                                                              SmallVector<Value>(two));
          k.storeShared(neighbours, shared, block.writer().place(row, column));
        }
    k.gatherBlock();
    block.store(shared);
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  WarpTile warp;
  ProductBlock block;
  Value shared;
  HalfTile left, right;
  Type element;
  Value firstRow, firstColumn; ///< of the warp, in the tile
  Value group, pair;           ///< its row and pair of columns of the sums of a matrix
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
    return blocks(blocksOf(*ProductShape::match(spec), kMany.block()), 1);
  }

  Unit unit(func::FuncOp, const SimtMachine &) const override { return Unit::HalfTiles; }

  void emit(SimtKernel &k) const override {
    ProductShape s = *ProductShape::match(k.spec);
    BlockTile tile = kMany.block();
    Value shared = k.sharedBytes(
        std::max(4 * tile.rows * tile.columns, 2 * (tile.rows + tile.columns) * tile.depth));
    // [tiles] Either way the grid is the same.
    Value isMany = k.less(constantI64(k.b, kFew.block().rows), k.e.uniform(s.extent(s.m)));
    auto emitWith = [&](const WarpTile &warp) {
      TileEmitter(k, s, warp, shared).emit();
      k.e.forget();
    };
    k.choose(
        isMany, [&] { emitWith(kMany); }, [&] { emitWith(kFew); });
  }
};

} // namespace

const SimtSchedule *simtTiles() {
  static const TilesSchedule schedule;
  return &schedule;
}

} // namespace weft
