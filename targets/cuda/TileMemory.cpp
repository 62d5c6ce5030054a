//===- TileMemory.cpp -----------------------------------------------------------------------------===//
//
//   a tile to shared memory: every thread has some of the chunks                    [fill]
//     in memory as products read it, and aligned: a copy beside the thread          [copy]
//     whole and aligned: a vector; else lane by lane where elements are             [chunk]
//   sums from shared memory, of a block's rows and columns that exist               [store]
//     the epilogue at four neighbours, and out; one by one where some are outside   [neighbours]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/TileMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

bool isMultiple(SymExpr extent, int64_t size) {
  return SymExpr::floordiv(extent, size) * size == extent;
}

TileReader::TileReader(SimtKernel &k, bool isRaw)
    : k(k), builder(k.b), isRaw(isRaw), lanes(isRaw ? 8 : 4) {}

/// Elements that lie side by side: dimensions of 1 behind them do not count.
static SymExpr lengthOfLines(const TileSource &source) {
  SmallVector<SymExpr> dims = cast<SymTensorType>(source.value.getType()).getDims();
  while (dims.size() > 1 && dims.back().isConstant(1))
    dims.pop_back();
  return dims.back();
}

/// Lanes of a source's elements, as bits or as numbers.
Value TileReader::elementsOf(const TileSource &source, const IndexValue &line,
                             const IndexValue &step) {
  SmallVector<IndexValue> index = source.index(line, step);
  if (!isRaw)
    return k.e.pull(source.value, index);
  auto type = cast<SymTensorType>(source.value.getType());
  if (Value pointer = k.e.pointerOf(source.value)) {
    auto raw = SymTensorType::get(type.getDims(), builder.getI16Type());
    return k.e.load(pointer, raw, index);
  }
  // As it was rounded to be of this type, nothing is lost.
  Value rounded = builder.create<arith::TruncFOp>(k.e.laneType(type.getElementType()),
                                                  k.e.pull(source.value, index));
  return builder.create<arith::BitcastOp>(k.e.laneType(builder.getI16Type()), rounded);
}

/// Both conditions; null is one that always holds.
Value TileReader::both(Value a, Value c) {
  return a && c ? Value(builder.create<arith::AndIOp>(a, c)) : a ? a : c;
}

/// [chunk] Zeros where there is no element.
Value TileReader::chunkOf(const TileSource &source, const IndexValue &line,
                          const IndexValue &step) {
  Value lines = k.e.uniform(source.lines), steps = k.e.uniform(source.steps);
  IndexValue run = source.isDeepLast ? step : line, other = source.isDeepLast ? line : step;
  Value runLimit = source.isDeepLast ? steps : lines,
        otherLimit = source.isDeepLast ? lines : steps;
  bool hasWholeSteps = isMultiple(source.steps, source.depth),
       hasWholeLines = isMultiple(source.lines, source.size);
  bool isRunWhole = source.isDeepLast ? hasWholeSteps : hasWholeLines,
       isOtherWhole = source.isDeepLast ? hasWholeLines : hasWholeSteps;
  Value isThere = isOtherWhole ? Value() : k.less(other.base, otherLimit), isWhole = isThere;
  if (!isRunWhole)
    isWhole = both(isThere, k.less(k.add(run.base, constantI64(builder, lanes - 1)), runLimit));
  TypedAttr none = isRaw ? TypedAttr(builder.getI16IntegerAttr(0)) : builder.getF32FloatAttr(0);
  Value zero = k.e.constantData(none.getType(), none), chunk = zero, isLeft = isThere;
  Stream stream(k, lengthOfLines(source), unsigned(lanes));
  if (!stream.isNever()) {
    Value isWide = both(isWhole, stream.condition());
    chunk = k.e.guarded(
        isWide,
        [&] {
          Value elements;
          stream.wide([&] { elements = elementsOf(source, line, step); });
          return elements;
        },
        zero);
    Value yes = builder.create<arith::ConstantOp>(builder.getBoolAttr(true));
    isLeft = both(isLeft, builder.create<arith::XOrIOp>(isWide, yes));
  }
  auto byLanes = [&] {
    return k.e.guarded(
        k.e.less(run, {runLimit}), [&] { return elementsOf(source, line, step); }, zero);
  };
  return isLeft ? k.e.guarded(isLeft, byLanes, chunk) : byLanes();
}

/// Whether elements lie in memory as products read them, in lines that end where the tile's do.
bool TileReader::isCopied(const TileSource &source) const {
  auto type = cast<SymTensorType>(source.value.getType());
  return k.e.pointerOf(source.value) && (isRaw || type.getElementType().isF32()) &&
         lengthOfLines(source) == (source.isDeepLast ? source.steps : source.lines);
}

/// [copy] Where lines have whole chunks, a chunk is there as a whole or not at all.
void TileReader::copyChunk(const TileSource &source, const IndexValue &line, const IndexValue &step,
                           Value to) {
  auto type = cast<SymTensorType>(source.value.getType());
  Value isThere;
  if (!isMultiple(source.lines, source.size))
    isThere = k.less(line.base, k.e.uniform(source.lines));
  if (!isMultiple(source.steps, source.depth))
    isThere = both(isThere, k.less(step.base, k.e.uniform(source.steps)));
  SmallVector<IndexValue> index = source.index({line.base}, {step.base});
  Value from = elementPointer(builder, k.e.pointerOf(source.value),
                              memoryType(type.getElementType()), k.e.linear(type, index).base);
  k.copyShared(to, from, isThere);
}

/// Of this thread, with the line and step of the tile.
void TileReader::eachChunk(const TileSource &source, function_ref<void(Value, Value)> body) {
  int64_t runs = (source.isDeepLast ? source.depth : source.size) / lanes;
  int64_t others = source.isDeepLast ? source.size : source.depth, chunks = runs * others;
  auto one = [&](Value number) {
    k.e.forget();
    Value run = builder.createOrFold<arith::RemUIOp>(number, constantI64(builder, runs)),
          other = builder.createOrFold<arith::DivUIOp>(number, constantI64(builder, runs));
    run = k.mul(run, constantI64(builder, lanes));
    body(source.isDeepLast ? other : run, source.isDeepLast ? run : other);
    k.e.forget();
  };
  if (chunks <= kTileThreads * 4 && chunks % kTileThreads == 0)
    for (int64_t i = 0; i < chunks / kTileThreads; ++i)
      one(k.add(k.inBlock, constantI64(builder, i * kTileThreads)));
  else
    k.loop(k.inBlock, constantI64(builder, chunks), kTileThreads, one);
}

/// [fill]
void TileReader::fill(const TileSource &source, Value firstLine, Value firstStep,
                      const TileTarget &target) {
  auto each = [&](function_ref<void(Value, Value, const IndexValue &, const IndexValue &)> body) {
    eachChunk(source, [&](Value at, Value deep) {
      body(at, deep, {k.add(firstLine, at), source.isDeepLast ? 0 : 1},
           {k.add(firstStep, deep), source.isDeepLast ? 1 : 0});
    });
  };
  auto compute = [&] {
    k.e.setLanes(unsigned(lanes));
    each([&](Value at, Value deep, const IndexValue &line, const IndexValue &step) {
      target.store(at, deep, chunkOf(source, line, step));
    });
    k.e.setLanes(1);
  };
  Stream stream(k, lengthOfLines(source), unsigned(lanes));
  if (!target.place || stream.isNever() || !isCopied(source))
    return compute();
  k.choose(
      stream.condition(),
      [&] {
        each([&](Value at, Value deep, const IndexValue &line, const IndexValue &step) {
          copyChunk(source, line, step, target.place(at, deep));
        });
      },
      compute);
}

Value TileWriter::place(Value row, Value column) const {
  ImplicitLocOpBuilder &b = k.b;
  Value one = constantI64(b, 1),
        high = b.create<arith::AndIOp>(b.create<arith::DivUIOp>(row, constantI64(b, 2)), one),
        low = b.create<arith::XOrIOp>(b.create<arith::AndIOp>(row, one), high);
  Value turn = k.add(k.mul(low, constantI64(b, 16)), k.mul(high, constantI64(b, 8)));
  Value line = k.mul(row, constantI64(b, stride));
  return k.mul(k.add(line, b.create<arith::XOrIOp>(column, turn)), constantI64(b, 4));
}

void TileWriter::put(Value sum, Value row, IndexValue column) const {
  k.e.forget();
  k.e.provide(root, [sum](ArrayRef<IndexValue>) { return sum; });
  k.storeResults(index({row}, column));
  k.e.forget();
}

/// [neighbours] Of a chunk: all at once, or one by one where some are outside, or not aligned.
void TileWriter::storeChunk(Value sums, Value chunk, Value firstRow, Value firstColumn,
                            Value isAligned) const {
  ImplicitLocOpBuilder &b = k.b;
  Value perRow = constantI64(b, tileColumns / kChunk), width = k.e.uniform(columns);
  Value line = b.create<arith::DivUIOp>(chunk, perRow),
        within = k.mul(b.create<arith::RemUIOp>(chunk, perRow), constantI64(b, kChunk));
  Value row = k.add(firstRow, line), column = k.add(firstColumn, within),
        bytes = place(line, within);
  Type f32 = b.getF32Type();
  auto singly = [&] {
    Value behind = b.create<arith::MinSIOp>(k.add(column, constantI64(b, kChunk)), width);
    k.loop(column, behind, 1, [&](Value each) {
      Value offset = k.mul(k.sub(each, column), constantI64(b, 4));
      put(k.loadShared(f32, sums, k.add(bytes, offset)), row, {each});
    });
  };
  k.when(k.less(row, k.e.uniform(rows)), [&] {
    if (!isAligned)
      return singly();
    Stream stream(k, columns, kChunk);
    Value last = k.add(column, constantI64(b, kChunk - 1));
    k.choose(
        b.create<arith::AndIOp>(isAligned, k.less(last, width)),
        [&] {
          k.e.setLanes(kChunk);
          stream.wide([&] {
            put(k.loadShared(VectorType::get({kChunk}, f32), sums, bytes), row, {column, 1});
          });
          k.e.setLanes(1);
        },
        singly);
  });
}

void TileWriter::addParts(Value sums, int64_t parts) const {
  ImplicitLocOpBuilder &b = k.b;
  Type four = VectorType::get({kChunk}, b.getF32Type());
  Value perRow = constantI64(b, tileColumns / kChunk);
  k.gatherBlock();
  k.loop(k.inBlock, constantI64(b, tileRows * tileColumns / kChunk), kTileThreads,
         [&](Value chunk) {
           Value row = b.create<arith::DivUIOp>(chunk, perRow),
                 within = b.create<arith::RemUIOp>(chunk, perRow);
           Value at = place(row, k.mul(within, constantI64(b, kChunk)));
           Value sum = k.loadShared(four, sums, at);
           for (int64_t i = 1; i < parts; ++i) {
             Value other = k.add(at, constantI64(b, i * bytes()));
             sum = b.create<arith::AddFOp>(sum, k.loadShared(four, sums, other));
           }
           k.storeShared(sum, sums, at);
         });
}

/// [store]
void TileWriter::store(Value sums, Value firstRow, Value firstColumn) const {
  Stream stream(k, columns, kChunk);
  Value isAligned = stream.isNever() ? Value() : stream.condition();
  k.loop(k.inBlock, constantI64(k.b, tileRows * tileColumns / kChunk), kTileThreads,
         [&](Value chunk) { storeChunk(sums, chunk, firstRow, firstColumn, isAligned); });
}

} // namespace weft
