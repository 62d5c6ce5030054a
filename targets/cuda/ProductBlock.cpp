//===- ProductBlock.cpp ---------------------------------------------------------------------------===//
//
//   the block's tile: columns innermost, then rows, then outer dimensions             [tile]
//   for all tiles of steps                                                            [sum]
//     both operands to shared memory: every thread has some of the chunks             [fill]
//       whole and aligned: a vector; else lane by lane where elements are             [chunk]
//     products
//   sums from shared memory: the epilogue at four neighbours, and out                 [store]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

static bool isMultiple(SymExpr extent, int64_t size) {
  return SymExpr::floordiv(extent, size) * size == extent;
}

SymExpr blocksOf(const ProductShape &s, const BlockTile &tile) {
  SymExpr blocks =
      SymExpr::ceildiv(s.extent(s.m), tile.rows) * SymExpr::ceildiv(s.extent(s.n), tile.columns);
  for (unsigned factor : s.outer)
    blocks = blocks * s.extent(factor);
  return blocks;
}

/// [tile]
ProductBlock::ProductBlock(SimtKernel &k, const ProductShape &s, const BlockTile &tile, bool isRaw)
    : k(k), builder(k.b), s(s), tile(tile), isRaw(isRaw),
      lanes(isRaw ? 8 : 4), operandA{s.a, s.inA, true, tile.rows, s.inA.back() == s.k},
      operandB{s.b, s.inB, false, tile.columns, s.inB.back() == s.k}, outer(s.outer.size()) {
  // There are fewer than 2^31 blocks, so none of these numbers is larger.
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value rest = builder.create<arith::TruncIOp>(i32, k.block);
  auto take = [&](SymExpr count) -> Value {
    Value limit = builder.createOrFold<arith::TruncIOp>(i32, k.e.uniform(count));
    Value own = builder.create<arith::RemUIOp>(rest, limit);
    rest = builder.create<arith::DivUIOp>(rest, limit);
    return builder.create<arith::ExtUIOp>(i64, own);
  };
  Value column = take(SymExpr::ceildiv(s.extent(s.n), tile.columns));
  Value row = take(SymExpr::ceildiv(s.extent(s.m), tile.rows));
  for (size_t i = outer.size(); i-- > 0;)
    outer[i] = take(s.extent(s.outer[i]));
  firstRow = k.mul(row, constantI64(builder, tile.rows));
  firstColumn = k.mul(column, constantI64(builder, tile.columns));
  rows = k.e.uniform(s.extent(s.m));
  columns = k.e.uniform(s.extent(s.n));
  depth = k.e.uniform(s.extent(s.k));
}

/// Lanes of an operand's elements, as bits or as numbers.
Value ProductBlock::elementsOf(const BlockOperand &operand, IndexValue at, IndexValue step) {
  SmallVector<IndexValue> index = s.indexOf(operand.factors, outer, operand.isA ? at : IndexValue(),
                                            operand.isA ? IndexValue() : at, step);
  if (!isRaw)
    return k.e.pull(operand.value, index);
  auto type = cast<SymTensorType>(operand.value.getType());
  if (auto argument = dyn_cast<BlockArgument>(operand.value)) {
    auto raw = SymTensorType::get(type.getDims(), builder.getI16Type());
    return k.e.load(k.inputs[argument.getArgNumber()], raw, index);
  }
  // As it was rounded to be of this type, nothing is lost.
  Value rounded = builder.create<arith::TruncFOp>(k.e.laneType(type.getElementType()),
                                                  k.e.pull(operand.value, index));
  return builder.create<arith::BitcastOp>(k.e.laneType(builder.getI16Type()), rounded);
}

/// Both conditions; null is one that always holds.
Value ProductBlock::both(Value a, Value c) {
  return a && c ? Value(builder.create<arith::AndIOp>(a, c)) : a ? a : c;
}

/// [chunk] Zeros where there is no element.
Value ProductBlock::chunkOf(const BlockOperand &operand, IndexValue at, IndexValue step) {
  SymExpr size = s.extent(operand.isA ? s.m : s.n), deep = s.extent(s.k);
  Value limit = operand.isA ? rows : columns;
  IndexValue run = operand.isDeepLast ? step : at, other = operand.isDeepLast ? at : step;
  Value runLimit = operand.isDeepLast ? depth : limit,
        otherLimit = operand.isDeepLast ? limit : depth;
  bool hasWholeSteps = isMultiple(deep, tile.depth), hasWholeSize = isMultiple(size, operand.size);
  bool isRunWhole = operand.isDeepLast ? hasWholeSteps : hasWholeSize,
       isOtherWhole = operand.isDeepLast ? hasWholeSize : hasWholeSteps;
  Value isThere = isOtherWhole ? Value() : k.less(other.base, otherLimit), isWhole = isThere;
  if (!isRunWhole)
    isWhole = both(isThere, k.less(k.add(run.base, constantI64(builder, lanes - 1)), runLimit));
  TypedAttr none = isRaw ? TypedAttr(builder.getI16IntegerAttr(0)) : builder.getF32FloatAttr(0);
  Value zero = k.e.constantData(none.getType(), none), chunk = zero, isLeft = isThere;
  Stream stream(k, cast<SymTensorType>(operand.value.getType()).getDims().back(), unsigned(lanes));
  if (!stream.isNever()) {
    Value isWide = both(isWhole, stream.condition());
    chunk = k.e.guarded(
        isWide,
        [&] {
          Value elements;
          stream.wide([&] { elements = elementsOf(operand, at, step); });
          return elements;
        },
        zero);
    Value yes = builder.create<arith::ConstantOp>(builder.getBoolAttr(true));
    isLeft = both(isLeft, builder.create<arith::XOrIOp>(isWide, yes));
  }
  auto byLanes = [&] {
    return k.e.guarded(
        k.e.less(run, {runLimit}), [&] { return elementsOf(operand, at, step); }, zero);
  };
  return isLeft ? k.e.guarded(isLeft, byLanes, chunk) : byLanes();
}

/// [fill]
void ProductBlock::fill(const BlockOperand &operand, Value step, StoreChunk store) {
  int64_t runs = (operand.isDeepLast ? tile.depth : operand.size) / lanes;
  int64_t chunks = operand.size * tile.depth / lanes;
  Value first = operand.isA ? firstRow : firstColumn;
  auto one = [&](Value number) {
    k.e.forget();
    Value run = builder.createOrFold<arith::RemUIOp>(number, constantI64(builder, runs)),
          other = builder.createOrFold<arith::DivUIOp>(number, constantI64(builder, runs));
    run = k.mul(run, constantI64(builder, lanes));
    Value at = operand.isDeepLast ? other : run, deep = operand.isDeepLast ? run : other;
    IndexValue place{k.add(first, at), operand.isDeepLast ? 0 : 1},
        full{k.add(step, deep), operand.isDeepLast ? 1 : 0};
    store(operand, at, deep, chunkOf(operand, place, full));
    k.e.forget();
  };
  if (chunks <= kThreads * 4 && chunks % kThreads == 0) {
    for (int64_t i = 0; i < chunks / kThreads; ++i)
      one(k.add(k.inBlock, constantI64(builder, i * kThreads)));
    return;
  }
  k.loop(k.inBlock, constantI64(builder, chunks), kThreads, one);
}

/// [sum] A barrier before a tile is read, and one before it is written again.
SmallVector<Value> ProductBlock::sum(ValueRange sums, StoreChunk store,
                                     function_ref<SmallVector<Value>(ValueRange)> multiply) {
  return k.loop(constantI64(builder, 0), depth, tile.depth, sums,
                [&](Value step, ValueRange carried) {
                  k.e.setLanes(unsigned(lanes));
                  Value aligned =
                      k.mul(builder.create<arith::DivUIOp>(step, constantI64(builder, tile.depth)),
                            constantI64(builder, tile.depth));
                  fill(operandA, aligned, store);
                  fill(operandB, aligned, store);
                  k.e.setLanes(1);
                  k.gatherBlock();
                  SmallVector<Value> next = multiply(carried);
                  k.gatherBlock();
                  return next;
                });
}

Value ProductBlock::sumPlace(Value row, Value column) {
  Value turn =
      k.mul(builder.create<arith::AndIOp>(row, constantI64(builder, 3)), constantI64(builder, 8));
  Value line = k.mul(row, constantI64(builder, tile.columns));
  return k.mul(k.add(line, builder.create<arith::XOrIOp>(column, turn)), constantI64(builder, 4));
}

/// Of the four neighbours of a chunk: all at once, or one by one where some are outside, or not aligned.
void ProductBlock::storeChunk(Value sums, Value chunk, Value isAligned) {
  Value perRow = constantI64(builder, tile.columns / kChunk);
  Value line = builder.create<arith::DivUIOp>(chunk, perRow),
        place = k.mul(builder.create<arith::RemUIOp>(chunk, perRow), constantI64(builder, kChunk));
  Value row = k.add(firstRow, line), column = k.add(firstColumn, place),
        bytes = sumPlace(line, place);
  Type f32 = builder.getF32Type();
  auto put = [&](Value sum, IndexValue place) {
    k.e.forget();
    k.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
    k.storeResults(s.indexOf(s.inResult, outer, {row}, place, {}));
    k.e.forget();
  };
  auto singly = [&] {
    Value behind =
        builder.create<arith::MinSIOp>(k.add(column, constantI64(builder, kChunk)), columns);
    k.loop(column, behind, 1, [&](Value each) {
      Value offset = k.mul(k.sub(each, column), constantI64(builder, 4));
      put(k.loadShared(f32, sums, k.add(bytes, offset)), {each});
    });
  };
  k.when(k.less(row, rows), [&] {
    if (!isAligned)
      return singly();
    Stream stream(k, s.extent(s.n), kChunk);
    Value last = k.add(column, constantI64(builder, kChunk - 1));
    k.choose(
        builder.create<arith::AndIOp>(isAligned, k.less(last, columns)),
        [&] {
          k.e.setLanes(kChunk);
          stream.wide([&] {
            put(k.loadShared(VectorType::get({kChunk}, f32), sums, bytes), {column, 1});
          });
          k.e.setLanes(1);
        },
        singly);
  });
}

/// [store]
void ProductBlock::store(Value sums) {
  Stream stream(k, s.extent(s.n), kChunk);
  Value isAligned = stream.isNever() ? Value() : stream.condition();
  k.loop(k.inBlock, constantI64(builder, tile.rows * tile.columns / kChunk), kThreads,
         [&](Value chunk) { storeChunk(sums, chunk, isAligned); });
}

} // namespace weft
