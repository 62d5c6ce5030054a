//===- Tiles.cpp - Products of f16 or bf16 by tensor cores --------------------------------------------===//
//
//   block of the grid: a tile of 128 x 64 results, 32 rows for each of four warps;      [tiles]
//     of 16 x 64, 16 columns for each, where there are 16 rows at most
//     for 32 steps of the sum
//       both operands in shared memory, in chunks of 16 bytes                           [chunks]
//       fragments from there, four matrices of 8 x 8 at once                            [fragments]
//       one instruction of the warp adds the products of 16 steps to 16 x 8 sums        [multiply]
//     sums to shared memory, and out                                                    [store]
//
// Chunks of a line change places with its number, so that the 8 that a matrix consists of, one of each line, lie in different banks. The order of
// a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kColumns = 64, kDepth = 32, kChunk = 8, kChunkBytes = 16;
/// What an instruction multiplies.
constexpr int64_t kMatrix = 8, kRows = 16, kSteps = 16;

/// What a warp has of a tile: so many times 16 rows, and 8 columns; warps lie below, or beside each other.
struct WarpTile {
  int64_t rows, columns;
  bool isBelow;
  BlockTile block() const {
    int64_t warps = ProductBlock::kThreads / SimtMachine::kWarp;
    return {rows * kRows * (isBelow ? warps : 1), kColumns, kDepth};
  }
};
constexpr WarpTile kMany{2, 8, true}, kFew{1, 2, false};

Type elementOf(Value operand) { return cast<SymTensorType>(operand.getType()).getElementType(); }

/// Emits the code of one thread.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const ProductShape &s, const WarpTile &warp, Value shared)
      : k(k), b(k.b), warp(warp), block(k, s, warp.block(), /*isRaw=*/true), shared(shared),
        element(elementOf(s.a)) {
    Value number = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp)),
          zero = constantI64(b, 0);
    firstRow = warp.isBelow ? times(number, warp.rows * kRows) : zero;
    firstColumn = warp.isBelow ? zero : times(number, warp.columns * kMatrix);
    Value lane = b.create<arith::RemUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
    matrix = over(lane, kMatrix);
    line = b.create<arith::RemUIOp>(lane, constantI64(b, kMatrix));
    group = over(lane, 4);
    pair = times(b.create<arith::RemUIOp>(lane, constantI64(b, 4)), 2);
  }

  void emit() {
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(warp.rows * warp.columns * 4), zero);
    sums = block.sum(
        sums,
        [&](const BlockOperand &operand, Value at, Value step, Value chunk) {
          put(operand, at, step, chunk);
        },
        [&](ValueRange carried) { return multiply(carried); });
    store(sums);
  }

private:
  Value times(Value a, int64_t c) { return k.mul(a, constantI64(b, c)); }
  Value over(Value a, int64_t c) { return b.create<arith::DivUIOp>(a, constantI64(b, c)); }
  Value plus(Value a, Value c) { return k.add(a, c); }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }

  /// [chunks] Where chunk `at` of a line lies. B lies behind A.
  Value placeOf(const BlockOperand &operand, Value line, Value at) {
    int64_t perLine = (operand.isDeepLast ? kDepth : operand.size) / kChunk;
    // Lines of fewer than 8 chunks share the 128 bytes that all banks have.
    int64_t together = std::max<int64_t>(1, kMatrix / perLine), places = std::min(perLine, kMatrix);
    Value turn = b.create<arith::AndIOp>(over(line, together), constantI64(b, places - 1));
    Value chunk = plus(times(line, perLine), b.create<arith::XOrIOp>(at, turn));
    int64_t begin = operand.isA ? 0 : block.a().size * kDepth * 2;
    return plus(times(chunk, kChunkBytes), begin);
  }

  void put(const BlockOperand &operand, Value at, Value step, Value chunk) {
    Value place = operand.isDeepLast ? placeOf(operand, at, over(step, kChunk))
                                     : placeOf(operand, step, over(at, kChunk));
    Value words = b.create<LLVM::BitcastOp>(VectorType::get({4}, b.getI32Type()), chunk);
    k.storeShared(words, shared, place);
  }

  /// [fragments] Four matrices of 8 rows or columns and 8 steps, from `at` and `step` on: those further down follow each other for A, and those
  /// of later steps for B.
  SmallVector<Value> fragments(const BlockOperand &operand, Value at, int64_t step) {
    Value low = b.create<arith::AndIOp>(matrix, constantI64(b, 1)), high = over(matrix, 2);
    Value along = operand.isA ? low : high, later = operand.isA ? high : low;
    Value place = operand.isDeepLast
                      ? placeOf(operand, plus(plus(at, times(along, kMatrix)), line),
                                plus(later, step / kChunk))
                      : placeOf(operand, plus(plus(times(later, kMatrix), line), step),
                                plus(over(at, kChunk), along));
    Type i32 = b.getI32Type();
    Value all = k.call(operand.isDeepLast ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
                                          : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16",
                       LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32}),
                       {k.sharedPlace(shared, place)});
    SmallVector<Value> words;
    for (int64_t i = 0; i < 4; ++i) {
      Value word = b.create<LLVM::ExtractValueOp>(all, i);
      words.push_back(element.isBF16()
                          ? word
                          : b.create<LLVM::BitcastOp>(VectorType::get({2}, b.getF16Type()), word));
    }
    return words;
  }

  /// [multiply]
  SmallVector<Value> multiply(ValueRange carried) {
    SmallVector<Value> sums(carried);
    for (int64_t step = 0; step < kDepth; step += kSteps) {
      SmallVector<SmallVector<Value>> left, right;
      for (int64_t i = 0; i < warp.rows; ++i)
        left.push_back(fragments(block.a(), plus(firstRow, i * kRows), step));
      for (int64_t j = 0; j < warp.columns; j += 2)
        right.push_back(fragments(block.b(), plus(firstColumn, j * kMatrix), step));
      for (int64_t i = 0; i < warp.rows; ++i)
        for (int64_t j = 0; j < warp.columns; ++j)
          add(left[size_t(i)], ArrayRef(right[size_t(j / 2)]).slice(size_t(j % 2) * 2, 2),
              MutableArrayRef(sums).slice(size_t(i * warp.columns + j) * 4, 4));
    }
    return sums;
  }

  void add(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) {
    SmallVector<Value> arguments(left);
    llvm::append_range(arguments, right);
    llvm::append_range(arguments, sums);
    Type f32 = b.getF32Type();
    Value all =
        k.call(element.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
               LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32}), arguments);
    for (int64_t i = 0; i < 4; ++i)
      sums[size_t(i)] = b.create<LLVM::ExtractValueOp>(all, i);
  }

  /// [store] Sums 0 and 1 are neighbours, 2 and 3 those eight rows below. Nobody reads the operands any more.
  void store(ArrayRef<Value> sums) {
    for (int64_t i = 0; i < warp.rows; ++i)
      for (int64_t j = 0; j < warp.columns; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          Value row = plus(plus(firstRow, group), i * kRows + half * kMatrix),
                column = plus(plus(firstColumn, pair), j * kMatrix);
          auto two = sums.slice(size_t((i * warp.columns + j) * 4 + half * 2), 2);
          Value neighbours = b.create<vector::FromElementsOp>(VectorType::get({2}, b.getF32Type()),
                                                              SmallVector<Value>(two));
          k.storeShared(neighbours, shared, block.sumPlace(row, column));
        }
    k.gatherBlock();
    block.store(shared);
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  WarpTile warp;
  ProductBlock block;
  Value shared;
  Type element;
  Value firstRow, firstColumn; ///< of the warp, in the tile
  Value matrix, line;          ///< whose place the thread gives to [fragments]
  Value group, pair;           ///< its row and pair of columns of the sums of a matrix
};

class TilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "product"; }
  int64_t threads() const override { return ProductBlock::kThreads; }

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
