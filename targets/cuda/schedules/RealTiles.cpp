//===- RealTiles.cpp - Products of f32, by a block of threads for each tile --------------------------------===//
//
//   block of the grid: a tile of 64 x 64 results; of 16 x 64 where there are 16 rows at most     [tiles]
//     for 16 steps of the sum
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

constexpr int64_t kColumns = 64, kDepth = 16, kRowGroups = 8, kWidth = 4, kUnrolled = 4;
/// Of the tile, by rows that a thread has.
constexpr BlockTile tileOf(int64_t held) { return {held * kRowGroups, kColumns, kDepth}; }
constexpr int64_t kHeld = 8, kHeldOfFew = 2;
/// Behind the rows of shared memory. With it, and with halves of every 16 elements exchanged in every second 8 steps, a warp that writes chunks
/// of 16 steps of 8 rows meets every bank once.
constexpr int64_t kPadding = 4, kHalf = 8;

/// Emits the code of one thread.
class RealEmitter {
public:
  RealEmitter(SimtKernel &k, const ProductShape &s, int64_t held, Value shared)
      : k(k), b(k.b), held(held), tile(tileOf(held)), block(k, s, tile, /*isRaw=*/false),
        shared(shared) {
    Value perRow = constantI64(b, kColumns / kWidth);
    firstRow = k.mul(b.create<arith::DivUIOp>(k.inBlock, perRow), constantI64(b, held));
    firstColumn = k.mul(b.create<arith::RemUIOp>(k.inBlock, perRow), constantI64(b, kWidth));
  }

  void emit() {
    Type row = VectorType::get({kWidth}, b.getF32Type());
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(row));
    SmallVector<Value> sums(size_t(held), zero);
    sums = block.sum(
        sums,
        [&](const TileSource &operand, Value at, Value step, Value chunk) {
          put(operand, at, step, chunk);
        },
        [&](ValueRange carried) { return multiply(carried); });
    // [store] Nobody reads the operands any more.
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value row = k.add(firstRow, constantI64(b, int64_t(i)));
      k.storeShared(sum, shared, block.writer().place(row, firstColumn));
    }
    k.gatherBlock();
    block.store(shared);
  }

private:
  Value bytes(Value numbers) { return k.mul(numbers, constantI64(b, 4)); }
  int64_t lineOf(const TileSource &operand) const { return operand.size + kPadding; }
  /// [steps] B lies behind A.
  Value placeOf(const TileSource &operand, Value at, Value step) {
    int64_t begin = &operand == &block.a() ? 0 : lineOf(block.a()) * kDepth;
    Value line = k.mul(step, constantI64(b, lineOf(operand)));
    at = b.create<arith::XOrIOp>(at, b.create<arith::AndIOp>(step, constantI64(b, kHalf)));
    return bytes(k.add(k.add(line, at), constantI64(b, begin)));
  }

  void put(const TileSource &operand, Value at, Value step, Value chunk) {
    if (!operand.isDeepLast)
      return k.storeShared(chunk, shared, placeOf(operand, at, step));
    for (int64_t i = 0; i < kWidth; ++i)
      k.storeShared(b.create<vector::ExtractOp>(chunk, i), shared,
                    placeOf(operand, at, k.add(step, constantI64(b, i))));
  }

  /// [multiply]
  SmallVector<Value> multiply(ValueRange sums) {
    return k.loop(constantI64(b, 0), constantI64(b, kDepth), kUnrolled, sums,
                  [&](Value first, ValueRange carried) {
                    SmallVector<Value> next(carried);
                    for (int64_t i = 0; i < kUnrolled; ++i)
                      addStep(k.add(first, constantI64(b, i)), next);
                    return next;
                  });
  }

  void addStep(Value step, SmallVector<Value> &sums) {
    Type four = VectorType::get({kWidth}, b.getF32Type());
    Value columns = k.loadShared(four, shared, placeOf(block.b(), firstColumn, step));
    for (int64_t row = 0; row < held; row += std::min(held, kWidth)) {
      int64_t width = std::min(held, kWidth);
      Value rows = k.loadShared(VectorType::get({width}, b.getF32Type()), shared,
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
  BlockTile tile;
  ProductBlock block;
  Value shared, firstRow, firstColumn;
};

class RealTilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "tile"; }
  int64_t threads() const override { return kTileThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return ProductShape::match(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    return blocks(blocksOf(*ProductShape::match(spec), tileOf(kHeld)), 1);
  }

  void emit(SimtKernel &k) const override {
    ProductShape s = *ProductShape::match(k.spec);
    int64_t operands = (tileOf(kHeld).rows + kColumns + 2 * kPadding) * kDepth,
            sums = tileOf(kHeld).rows * kColumns;
    Value shared = k.sharedBytes(4 * std::max(operands, sums));
    // [tiles] Either way the grid is the same.
    Value isMany = k.less(constantI64(k.b, tileOf(kHeldOfFew).rows), k.e.uniform(s.extent(s.m)));
    auto emitWith = [&](int64_t held) {
      RealEmitter(k, s, held, shared).emit();
      k.e.forget();
    };
    k.choose(
        isMany, [&] { emitWith(kHeld); }, [&] { emitWith(kHeldOfFew); });
  }
};

} // namespace

const SimtSchedule *simtRealTiles() {
  static const RealTilesSchedule schedule;
  return &schedule;
}

} // namespace weft
