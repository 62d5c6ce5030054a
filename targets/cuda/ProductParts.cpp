//===- ProductParts.cpp - Blocks that share the steps of a tile -------------------------------------------===//
//
//   each leaves its sums, chunk by chunk of four columns                                     [leave]
//   the last adds them                                                                       [add]
//     some chunks of a thread at a time
//       some parts at a time, whose numbers are on their way together
//
// The order in which a sum's parts are added is that of its steps.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/ProductBlock.h"

using namespace mlir;

namespace weft {

static constexpr int64_t kChunk = 4, kAtOnce = 4;

void ProductBlock::store(Value sums) {
  if (!parts)
    return results.store(sums, place.row, place.column);
  Value isMine = parts->join([&] { leaveSums(sums); }, [&] { addSums(sums); });
  k.when(isMine, [&] { results.store(sums, place.row, place.column); });
}

/// Of rows that are there. A thread's chunks are those that it has in TileWriter::addParts().
void ProductBlock::someChunks(function_ref<void(ArrayRef<Value>, Value)> body) {
  Value left = k.sub(k.e.uniform(p.rows), place.row),
        rows = k.b.create<arith::MinSIOp>(left, constantI64(k.b, tile.rows)),
        end = k.mul(rows, constantI64(k.b, tile.columns / kChunk));
  int64_t own = llvm::divideCeil(tile.rows * tile.columns / kChunk, kTileThreads),
          together = std::min(own, kAtOnce);
  k.loop(k.inBlock, end, together * kTileThreads, [&](Value first) {
    SmallVector<Value> chunks;
    for (int64_t i = 0; i < together; ++i)
      chunks.push_back(k.add(first, constantI64(k.b, i * kTileThreads)));
    body(chunks, end);
  });
}

/// Among the sums in shared memory.
Value ProductBlock::placeOf(Value chunk) {
  Value perRow = constantI64(k.b, tile.columns / kChunk);
  Value within = k.mul(k.b.create<arith::RemUIOp>(chunk, perRow), constantI64(k.b, kChunk));
  return results.place(k.b.create<arith::DivUIOp>(chunk, perRow), within);
}

static Value inPart(SimtKernel &k, Value part, Value chunk) {
  return k.b.create<LLVM::GEPOp>(
      part.getType(), k.b.getI8Type(), part,
      ArrayRef<LLVM::GEPArg>{k.mul(chunk, constantI64(k.b, 4 * kChunk))});
}

/// [leave]
void ProductBlock::leaveSums(Value sums) {
  Type four = VectorType::get({kChunk}, results.sumType());
  Value own = parts->own();
  someChunks([&](ArrayRef<Value> chunks, Value end) {
    for (Value chunk : chunks)
      k.when(k.less(chunk, end), [&] {
        Value sum = k.loadShared(four, sums, placeOf(chunk));
        k.b.create<LLVM::StoreOp>(sum, inPart(k, own, chunk), 16);
      });
  });
}

/// Parts from `first` on. Behind the last part, and behind the last chunk, what is there is read again, for nothing.
SmallVector<Value> ProductBlock::addSome(ArrayRef<Value> chunks, Value first, ValueRange sums) {
  ImplicitLocOpBuilder &b = k.b;
  auto four = VectorType::get({kChunk}, results.sumType());
  Value last = k.sub(parts->count, constantI64(b, 1)),
        none = b.create<arith::ConstantOp>(b.getZeroAttr(four));
  SmallVector<Value> all(sums), isThere;
  SmallVector<SmallVector<Value>> loaded;
  for (int64_t i = 0; i < kAtOnce; ++i) {
    Value which = k.add(first, constantI64(b, i));
    Value part = parts->at(b.create<arith::MinSIOp>(which, last));
    isThere.push_back(k.less(which, parts->count));
    SmallVector<Value> &each = loaded.emplace_back();
    for (Value chunk : chunks)
      each.push_back(b.create<LLVM::LoadOp>(four, inPart(k, part, chunk), 16));
  }
  for (auto [own, is] : llvm::zip_equal(loaded, isThere))
    for (auto [sum, part] : llvm::zip_equal(all, own))
      sum = emitCombine(b, Combiner::Sum, results.sumType(), sum,
                        b.create<arith::SelectOp>(is, part, none));
  return all;
}

/// [add]
void ProductBlock::addSums(Value sums) {
  ImplicitLocOpBuilder &b = k.b;
  auto four = VectorType::get({kChunk}, results.sumType());
  someChunks([&](ArrayRef<Value> chunks, Value end) {
    SmallVector<Value> there, none(chunks.size(), b.create<arith::ConstantOp>(b.getZeroAttr(four)));
    for (Value chunk : chunks)
      there.push_back(b.create<arith::SelectOp>(k.less(chunk, end), chunk, chunks.front()));
    SmallVector<Value> all =
        k.loop(constantI64(b, 0), parts->count, kAtOnce, none,
               [&](Value first, ValueRange carried) { return addSome(there, first, carried); });
    for (auto [chunk, sum] : llvm::zip_equal(there, all))
      k.storeShared(sum, sums, placeOf(chunk));
  });
  k.gatherBlock();
}

} // namespace weft
