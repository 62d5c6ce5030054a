//===- AttentionParts.cpp - Blocks that share the keys of an attention ------------------------------------===//
//
//   each leaves, of every row: sums of powers times values, the largest score and the sum of powers     [leave]
//   the last, for chunks of four columns                                                             [join]
//     eight parts at a time, whose numbers are on their way together
//       all are brought to the largest score so far
//     sums over the sum of powers to shared memory
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/AttentionBlock.h"

using namespace mlir;

namespace weft {

static constexpr int64_t kChunk = 4, kAtOnce = 8;

Value AttentionBlock::finalFactor(Value sum) {
  Value factor = inverse(sum);
  if (!parts)
    return factor;
  return k.b.create<arith::SelectOp>(k.less(constantI64(k.b, 1), parts->count), number(1), factor);
}

/// In bytes; chunks of a row follow each other.
Value AttentionBlock::placeInPart(Value row, Value column) {
  Value at = k.add(k.mul(row, constantI64(k.b, tile.columns)), column);
  return k.mul(at, constantI64(k.b, 4));
}

Value AttentionBlock::placeOfRow(Value row) {
  Value behind = constantI64(k.b, 4 * tile.rows * tile.columns);
  return k.add(behind, k.mul(row, constantI64(k.b, 8)));
}

static Value offset(SimtKernel &k, Value pointer, Value bytes) {
  return k.b.create<LLVM::GEPOp>(pointer.getType(), k.b.getI8Type(), pointer,
                                 ArrayRef<LLVM::GEPArg>{bytes});
}

/// [leave]
void AttentionBlock::leave(Value row, const RunningRow &running) {
  if (!parts)
    return;
  Value isThere = k.b.create<arith::AndIOp>(k.less(constantI64(k.b, 1), parts->count),
                                            k.less(k.add(firstRow, row), k.e.uniform(s.m)));
  k.when(isThere, [&] {
    Value both = k.b.create<vector::FromElementsOp>(
        VectorType::get({2}, k.b.getF32Type()), SmallVector<Value>{running.largest, running.sum});
    k.b.create<LLVM::StoreOp>(both, offset(k, parts->own(), placeOfRow(row)), 8);
  });
}

void AttentionBlock::eachChunk(function_ref<void(Value, Value)> body) {
  int64_t perRow = tile.columns / kChunk;
  Value left = k.sub(k.e.uniform(s.m), firstRow),
        rows = k.b.create<arith::MinSIOp>(left, constantI64(k.b, tile.rows));
  k.loop(k.inBlock, k.mul(rows, constantI64(k.b, perRow)), kTileThreads, [&](Value chunk) {
    Value line = k.b.create<arith::DivUIOp>(chunk, constantI64(k.b, perRow)),
          within = k.b.create<arith::RemUIOp>(chunk, constantI64(k.b, perRow));
    body(line, k.mul(within, constantI64(k.b, kChunk)));
  });
}

void AttentionBlock::leaveSums(Value sums) {
  Type four = VectorType::get({kChunk}, k.b.getF32Type());
  Value own = parts->own();
  eachChunk([&](Value row, Value column) {
    Value sum = k.loadShared(four, sums, results.place(row, column));
    k.b.create<LLVM::StoreOp>(sum, offset(k, own, placeInPart(row, column)), 16);
  });
}

/// Carried are the largest score, the sum of powers, and sums. Behind the last part its numbers are read again, for nothing.
SmallVector<Value> AttentionBlock::joinSome(Value first, Value row, Value column,
                                            ValueRange carried) {
  ImplicitLocOpBuilder &b = k.b;
  Type f32 = b.getF32Type(), two = VectorType::get({2}, f32), four = VectorType::get({kChunk}, f32);
  Value last = k.sub(parts->count, constantI64(b, 1)), none = number(-INFINITY);
  SmallVector<Value> largest, powers, sums;
  for (int64_t i = 0; i < kAtOnce; ++i) {
    Value which = k.add(first, constantI64(b, i));
    Value part = parts->at(b.create<arith::MinSIOp>(which, last));
    Value both = b.create<LLVM::LoadOp>(two, offset(k, part, placeOfRow(row)), 8);
    sums.push_back(b.create<LLVM::LoadOp>(four, offset(k, part, placeInPart(row, column)), 16));
    Value isThere = k.less(which, parts->count);
    largest.push_back(
        b.create<arith::SelectOp>(isThere, b.create<vector::ExtractOp>(both, 0), none));
    powers.push_back(
        b.create<arith::SelectOp>(isThere, b.create<vector::ExtractOp>(both, 1), number(0)));
    sums.back() = b.create<arith::SelectOp>(isThere, sums.back(),
                                            b.create<arith::ConstantOp>(b.getZeroAttr(four)));
  }
  Value most = carried[0];
  for (Value each : largest)
    most = larger(most, each);
  auto scaled = [&](Value vector, Value factor) -> Value {
    return b.create<arith::MulFOp>(vector, b.create<vector::SplatOp>(factor, four));
  };
  Value before = powerOf(carried[0], most), power = b.create<arith::MulFOp>(carried[1], before),
        sum = scaled(carried[2], before);
  for (int64_t i = 0; i < kAtOnce; ++i) {
    Value factor = powerOf(largest[size_t(i)], most);
    power = b.create<math::FmaOp>(powers[size_t(i)], factor, power);
    sum = b.create<arith::AddFOp>(sum, scaled(sums[size_t(i)], factor));
  }
  return {most, power, sum};
}

/// [join]
void AttentionBlock::joinSums(Value shared) {
  ImplicitLocOpBuilder &b = k.b;
  Type four = VectorType::get({kChunk}, b.getF32Type());
  eachChunk([&](Value row, Value column) {
    SmallVector<Value> none{number(-INFINITY), number(0),
                            b.create<arith::ConstantOp>(b.getZeroAttr(four))};
    SmallVector<Value> all = k.loop(
        constantI64(b, 0), parts->count, kAtOnce, none,
        [&](Value first, ValueRange carried) { return joinSome(first, row, column, carried); });
    Value factor = b.create<vector::SplatOp>(inverse(all[1]), four);
    k.storeShared(b.create<arith::MulFOp>(all[2], factor), shared, results.place(row, column));
  });
  k.gatherBlock();
}

void AttentionBlock::store(Value shared) {
  if (!parts)
    return results.store(shared, firstRow, firstColumn);
  Value isMine = parts->join([&] { leaveSums(shared); }, [&] { joinSums(shared); });
  k.when(isMine, [&] { results.store(shared, firstRow, firstColumn); });
}

} // namespace weft
