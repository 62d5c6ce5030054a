//===- TileMemory.cpp -----------------------------------------------------------------------------===//
//
//   a tile to shared memory: every thread has some of the chunks                    [fill]
//     in memory as products read it, if in another order, and aligned: a copy beside the thread     [copy]
//     whole and aligned: a vector; else lane by lane where elements are             [chunk]
//   sums from shared memory, of a block's rows and columns that exist               [store]
//     the epilogue at four neighbours, and out; one by one where some are outside   [neighbours]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/TileMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

bool isMultiple(SymExpr extent, int64_t size) {
  return SymExpr::floordiv(extent, size) * size == extent;
}

TileReader::TileReader(SimtKernel &k, TileElements elements) : k(k), builder(k.b), lanes(4) {
  if (elements != TileElements::Reals) {
    raw = elements == TileElements::Bytes ? builder.getI8Type() : builder.getI16Type();
    lanes = 128 / raw.getIntOrFloatBitWidth();
  }
}

/// The tensor in memory, or the one that is pulled.
static SymTensorType typeOf(const TileSource &source) {
  return source.type ? source.type : cast<SymTensorType>(source.value.getType());
}

/// Elements that lie side by side: dimensions of 1 behind them do not count.
static SymExpr lengthOfLines(const TileSource &source) {
  SmallVector<SymExpr> dims = typeOf(source).getDims();
  while (dims.size() > 1 && dims.back().isConstant(1))
    dims.pop_back();
  return dims.back();
}
static SymExpr runOf(const TileSource &source) {
  return source.run ? *source.run : lengthOfLines(source);
}

Value TileReader::pointerOf(const TileSource &source) const {
  return source.pointer ? source.pointer : k.e.pointerOf(source.value);
}

TileSource::Spot TileReader::spotOf(const TileSource &source, const Chunk &chunk) {
  if (source.spot)
    return source.spot(chunk.held, chunk.step);
  return {source.index(chunk.line, chunk.step), {}};
}

/// Lanes of a source's elements, as bits or as numbers.
Value TileReader::elementsOf(const TileSource &source, ArrayRef<IndexValue> index) {
  SymTensorType type = typeOf(source);
  if (!raw)
    return source.pointer ? k.e.loadConstant(source.pointer, type, index)
                          : k.e.pull(source.value, index);
  if (Value pointer = pointerOf(source))
    return k.e.load(pointer, SymTensorType::get(type.getDims(), raw), index);
  Value pulled = k.e.pull(source.value, index);
  if (pulled.getType() == k.e.laneType(raw))
    return pulled;
  // As it was rounded to be of this type, nothing is lost.
  Value rounded = builder.create<arith::TruncFOp>(k.e.laneType(type.getElementType()), pulled);
  return builder.create<arith::BitcastOp>(k.e.laneType(raw), rounded);
}

/// Both conditions; null is one that always holds. A condition of one lane is one of all.
Value TileReader::both(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  if (a.getType() != c.getType())
    for (Value *each : {&a, &c})
      *each = isa<VectorType>(each->getType()) ? *each : k.e.splat(*each);
  return builder.create<arith::AndIOp>(a, c);
}

/// Bytes as words, whose lowest are the first: vectors of bytes LLVM would store word by word.
Value TileReader::asWords(Value elements) {
  if (!raw || !raw.isInteger(8))
    return elements;
  constexpr int64_t perWord = 4;
  Type word = builder.getI32Type();
  SmallVector<Value> words;
  for (int64_t i = 0; i < lanes; ++i) {
    Value byte =
        builder.create<arith::ExtUIOp>(word, builder.create<vector::ExtractOp>(elements, i));
    if (i % perWord == 0) {
      words.push_back(byte);
      continue;
    }
    Value far = builder.create<arith::ConstantOp>(builder.getI32IntegerAttr(8 * (i % perWord)));
    words.back() =
        builder.create<arith::OrIOp>(words.back(), builder.create<arith::ShLIOp>(byte, far));
  }
  return builder.create<vector::FromElementsOp>(VectorType::get({lanes / perWord}, word), words);
}

/// [chunk] Zeros where there is no element.
Value TileReader::chunkOf(const TileSource &source, const Chunk &chunk) {
  const IndexValue &line = chunk.line, &step = chunk.step;
  Value lines = k.e.uniform(source.lines), steps = k.e.uniform(source.steps);
  IndexValue run = source.isDeepLast ? step : line, other = source.isDeepLast ? line : step;
  Value runLimit = source.isDeepLast ? steps : lines,
        otherLimit = source.isDeepLast ? lines : steps;
  bool hasWholeSteps = isMultiple(source.steps, source.depth),
       hasWholeLines = isMultiple(source.lines, source.size);
  bool isRunWhole = source.isDeepLast ? hasWholeSteps : hasWholeLines,
       isOtherWhole = source.isDeepLast ? hasWholeLines : hasWholeSteps;
  Value isThere = isOtherWhole ? Value() : k.less(other.base, otherLimit);
  if (!isRunWhole)
    isThere = both(isThere, k.less(run.base, runLimit));
  Value isWhole = isThere;
  if (!isRunWhole)
    isWhole = both(isThere, k.less(k.add(run.base, constantI64(builder, lanes - 1)), runLimit));
  TypedAttr none = builder.getZeroAttr(raw ? raw : builder.getF32Type());
  Value zero = k.e.constantData(none.getType(), none), nothing = asWords(zero), isLeft = isThere;
  Value elements = nothing;
  auto within = [&](Value condition) { // lanes where it holds, and which are inside
    Spot spot = spotOf(source, chunk);
    condition = both(condition, spot.isInside);
    auto read = [&] { return elementsOf(source, spot.index); };
    return condition ? k.e.guarded(condition, read, zero) : read();
  };
  Stream stream(k, runOf(source), unsigned(lanes));
  if (!stream.isNever()) {
    Value isWide = both(isWhole, stream.condition());
    elements = k.e.guarded(
        isWide,
        [&] {
          Value all;
          stream.wide([&] { all = asWords(within({})); });
          return all;
        },
        nothing);
    Value yes = builder.create<arith::ConstantOp>(builder.getBoolAttr(true));
    isLeft = both(isLeft, builder.create<arith::XOrIOp>(isWide, yes));
  }
  auto byLanes = [&] { return asWords(within(k.e.less(run, {runLimit}))); };
  return isLeft ? k.e.guarded(isLeft, byLanes, elements) : byLanes();
}

/// What the value may show in another order or several times, as heads of queries do that share keys: null where it is no such thing.
static Value shownBy(Value value) {
  Type element = cast<SymTensorType>(value.getType()).getElementType();
  while (Operation *op = value.getDefiningOp()) {
    auto from = op->getNumOperands() == 1 ? dyn_cast<SymTensorType>(op->getOperand(0).getType())
                                          : SymTensorType();
    if (!from || from.getElementType() != element)
      return {};
    value = op->getOperand(0);
  }
  return value;
}

/// Which element of `shown` is that of `value`, if it is one. Operators that change nothing but places say so by what they make of an element.
static std::optional<SmallVector<IndexValue>> placeIn(SimtKernel &k, Value shown, Value value,
                                                      ArrayRef<IndexValue> index) {
  Type element = computeType(cast<SymTensorType>(shown.getType()).getElementType());
  Value any = k.b.create<LLVM::UndefOp>(element);
  SmallVector<IndexValue> place;
  k.e.forget();
  k.e.provide(shown, [&](ArrayRef<IndexValue> of) {
    place.assign(of.begin(), of.end());
    return any;
  });
  bool isSame = k.e.pull(value, index) == any;
  k.e.withdraw(shown);
  k.e.forget();
  return isSame ? std::optional(place) : std::nullopt;
}

/// The source as elements of what lies in memory, where its runs are runs there.
std::optional<TileSource> TileReader::inMemory(const TileSource &source) {
  if (pointerOf(source))
    return source;
  if (source.spot)
    return std::nullopt;
  Value shown = shownBy(source.value);
  if (!shown || !k.e.pointerOf(shown))
    return std::nullopt;
  Type i64 = builder.getI64Type();
  IndexValue line{builder.create<LLVM::UndefOp>(i64)}, step{builder.create<LLVM::UndefOp>(i64)};
  auto place = placeIn(k, shown, source.value, source.index(line, step));
  if (!place || place->back().base != (source.isDeepLast ? step : line).base)
    return std::nullopt;
  TileSource lies = source;
  lies.value = shown;
  lies.index = [this, source, shown](const IndexValue &line, const IndexValue &step) {
    return *placeIn(k, shown, source.value, source.index(line, step));
  };
  return lies;
}

/// Whether elements lie in memory as products read them, in runs that end where chunks do.
bool TileReader::isCopied(const TileSource &source) const {
  if (!pointerOf(source) || !(raw || typeOf(source).getElementType().isF32()))
    return false;
  return source.run || lengthOfLines(source) == (source.isDeepLast ? source.steps : source.lines);
}

/// [copy] Where runs have whole chunks, a chunk is there as a whole or not at all.
void TileReader::copyChunk(const TileSource &source, const Chunk &chunk, Value to) {
  SymTensorType type = typeOf(source);
  Value isThere;
  if (!isMultiple(source.lines, source.size))
    isThere = k.less(chunk.line.base, k.e.uniform(source.lines));
  if (!isMultiple(source.steps, source.depth))
    isThere = both(isThere, k.less(chunk.step.base, k.e.uniform(source.steps)));
  Spot spot =
      spotOf(source, {chunk.at, chunk.deep, {chunk.line.base}, {chunk.step.base}, chunk.held});
  Value from = elementPointer(builder, pointerOf(source), memoryType(type.getElementType()),
                              k.e.linear(type, spot.index).base);
  k.copyShared(to, from, both(isThere, spot.isInside));
}

/// How many chunks each thread has, where these are few; 0: they are a loop.
unsigned TileReader::unrolledChunks(const TileSource &source, int64_t most) const {
  int64_t chunks = source.depth * source.size / lanes;
  return chunks <= kTileThreads * most && chunks % kTileThreads == 0
             ? unsigned(chunks / kTileThreads)
             : 0;
}

/// Line and step of the tile of the chunk with this number.
std::pair<Value, Value> TileReader::placeOf(const TileSource &source, Value number) {
  int64_t runs = (source.isDeepLast ? source.depth : source.size) / lanes;
  int64_t least = raw ? SimtMachine::kWarp / 2 : SimtMachine::kWarp;
  bool areLinesBeside = source.areLinesBeside && source.size >= least;
  Value inner = constantI64(builder, areLinesBeside ? source.size : runs),
        run = builder.createOrFold<arith::RemUIOp>(number, inner),
        other = builder.createOrFold<arith::DivUIOp>(number, inner);
  if (areLinesBeside)
    std::swap(run, other);
  run = k.mul(run, constantI64(builder, lanes));
  return source.isDeepLast ? std::pair(other, run) : std::pair(run, other);
}

SmallVector<TileSource::Held> TileReader::hold(const TileSource &source, Value firstLine) {
  SmallVector<TileSource::Held> held;
  for (unsigned i = 0; source.hold && i < unrolledChunks(source, kMany); ++i) {
    Value number = k.add(k.inBlock, constantI64(builder, i * kTileThreads));
    held.push_back(source.hold(k.add(firstLine, placeOf(source, number).first)));
  }
  return held;
}

/// Of this thread.
void TileReader::eachChunk(const TileSource &source, const Begin &begin, unsigned unrolled,
                           function_ref<void(const Chunk &)> body) {
  auto one = [&](Value number, const TileSource::Held *own) {
    k.e.forget();
    auto [at, deep] = placeOf(source, number);
    Value line = k.add(begin.line, at);
    TileSource::Held found = own ? *own : source.hold ? source.hold(line) : TileSource::Held{};
    body({at,
          deep,
          {line, source.isDeepLast ? 0 : 1},
          {k.add(begin.step, deep), source.isDeepLast ? 1 : 0},
          found});
    k.e.forget();
  };
  for (unsigned i = 0; i < unrolled; ++i)
    one(k.add(k.inBlock, constantI64(builder, i * kTileThreads)),
        begin.held.empty() ? nullptr : &begin.held[i]);
  if (!unrolled)
    k.loop(k.inBlock, constantI64(builder, source.depth * source.size / lanes), kTileThreads,
           [&](Value number) { one(number, nullptr); });
}

/// [fill]
void TileReader::fill(const TileSource &source, Value firstLine, Value firstStep,
                      const TileTarget &target, ArrayRef<TileSource::Held> held) {
  Begin begin{firstLine, firstStep, held};
  auto compute = [&] {
    k.e.setLanes(unsigned(lanes));
    eachChunk(
        source, begin, unrolledChunks(source, held.empty() ? kSome : kMany),
        [&](const Chunk &chunk) { target.store(chunk.at, chunk.deep, chunkOf(source, chunk)); });
    k.e.setLanes(1);
  };
  std::optional<TileSource> stored = target.place ? inMemory(source) : std::nullopt;
  if (!stored || !isCopied(*stored))
    return compute();
  Stream stream(k, runOf(*stored), unsigned(lanes));
  if (stream.isNever())
    return compute();
  k.choose(
      stream.condition(),
      [&] {
        eachChunk(*stored, begin, unrolledChunks(*stored, kMany), [&](const Chunk &chunk) {
          copyChunk(*stored, chunk, target.place(chunk.at, chunk.deep));
        });
      },
      compute);
}

Type TileWriter::sumType() const {
  return computeType(cast<SymTensorType>(root.getType()).getElementType());
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
  Type type = sumType();
  auto singly = [&] {
    Value behind = b.create<arith::MinSIOp>(k.add(column, constantI64(b, kChunk)), width);
    k.loop(column, behind, 1, [&](Value each) {
      Value offset = k.mul(k.sub(each, column), constantI64(b, 4));
      put(k.loadShared(type, sums, k.add(bytes, offset)), row, {each});
    });
  };
  k.when(k.less(row, k.e.uniform(rows)), [&] {
    if (!isAligned)
      return singly();
    Stream stream(k, run.value_or(columns), kChunk);
    Value last = k.add(column, constantI64(b, kChunk - 1));
    k.choose(
        b.create<arith::AndIOp>(isAligned, k.less(last, width)),
        [&] {
          k.e.setLanes(kChunk);
          stream.wide([&] {
            put(k.loadShared(VectorType::get({kChunk}, type), sums, bytes), row, {column, 1});
          });
          k.e.setLanes(1);
        },
        singly);
  });
}

void TileWriter::addParts(Value sums, int64_t parts) const {
  ImplicitLocOpBuilder &b = k.b;
  Type four = VectorType::get({kChunk}, sumType());
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
             sum = emitCombine(b, Combiner::Sum, sumType(), sum, k.loadShared(four, sums, other));
           }
           k.storeShared(sum, sums, at);
         });
}

/// [store]
void TileWriter::store(Value sums, Value firstRow, Value firstColumn) const {
  Stream stream(k, run.value_or(columns), kChunk);
  Value isAligned = stream.isNever() ? Value() : stream.condition();
  k.loop(k.inBlock, constantI64(k.b, tileRows * tileColumns / kChunk), kTileThreads,
         [&](Value chunk) { storeChunk(sums, chunk, firstRow, firstColumn, isAligned); });
}

} // namespace weft
