//===- Reductions.cpp - Elements combined along some dimensions, by as many threads as there may be ----------===//
//
// Where elements that are combined follow each other in memory:
//   a line's chunks of lanes go to neighbouring threads                                      [lines]
//     short lines: to as many as there are chunks, of a warp at most; a block has several     [short]
//     long ones, or few: to a block                                                          [long]
// Else neighbours belong to different results, and are held in lanes:
//   a block has up to a warp of chunks of columns, and as many rows at a time as threads are left  [columns]
// In both:
//   a thread has several elements on their way at any time                                   [walk]
//   and adds them in order, then threads join theirs in the order of a tree (Fold.h)
//   the first of them stores the epilogue
// Few results of many elements would leave most of the device without work:
//   a pass before cuts what is combined into parts, and writes what each gives to scratch     [first]
//   and the kernel combines these: columns of as many rows as there are parts                 [finish]
//   whether there is such a pass is decided by sizes, at each call                            [parts]
//
// What is in which part depends on sizes alone: the same sums in every run.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/common/match/ReductionShape.h"
#include "targets/cuda/Fold.h"
#include "targets/cuda/LineThreads.h"
#include "targets/cuda/Stream.h"
#include "targets/cuda/Walk.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kThreads = 512, kThreadBits = 9, kWarp = SimtMachine::kWarp;
/// Blocks that keep a large device busy; parts have so many elements at least, and there are two or more of so many.
constexpr int64_t kMostBlocks = 528, kLeastPart = 16384, kLeastParted = 65536;
/// A warp walks so many chunks of a line, or, where there are so many lines, more of them.
constexpr int64_t kWarpsChunks = 64, kManyLines = 2048, kManyChunks = 1024;

SymExpr product(MLIRContext *context, ArrayRef<SymExpr> dims) {
  SymExpr all = SymExpr::constant(context, 1);
  for (SymExpr dim : dims)
    all = all * dim;
  return all;
}

/// How the work is cut: expressions of sizes.
class Cut {
public:
  explicit Cut(func::FuncOp spec, const ReductionShape &shape)
      : context(spec.getContext()), shape(shape), lanes(streamLanes(spec, shape.input)),
        results(product(context, shape.keptDims)), combined(product(context, shape.reducedDims)) {
    if (!shape.isAlongLines() && isa<ArgReduceOp>(shape.root))
      lanes = std::min(lanes, 4u); // places are wide
  }

  /// [parts] One: there is no pass before.
  SymExpr parts() const {
    SymExpr tiles = shape.isAlongLines() ? results : columnTiles();
    SymExpr work =
        shape.isAlongLines() ? combined : combined * SymExpr::min(shape.keptDims.back(), columns());
    SymExpr most = SymExpr::floordiv(number(kMostBlocks), SymExpr::max(tiles, number(1)));
    SymExpr beyond = SymExpr::floordiv(work, kLeastPart) - number(kLeastParted / kLeastPart - 2);
    return SymExpr::max(SymExpr::min(beyond, most), number(1));
  }
  bool isParted() const { return !parts().isConstant(1); }

  SymExpr firstBlocks() const {
    SymExpr tiles = shape.isAlongLines() ? results : columnTiles();
    return tiles * parts() * hasParts();
  }
  SymExpr blocks() const {
    if (shape.isAlongLines())
      return lineBlocks();
    return SymExpr::max(columnTiles(), SymExpr::ceildiv(results, kWarp) * hasParts());
  }
  /// Of each field of a state: none where there is one part, and at least as many as there are parts of results.
  SymExpr scratchWords() const { return results * (parts() - number(1)) * int64_t(2); }
  SymExpr hasParts() const { return atMostOne(parts() - number(1)); }

  unsigned laneCount() const { return lanes; }

private:
  SymExpr number(int64_t value) const { return SymExpr::constant(context, value); }
  SymExpr atMostOne(SymExpr expr) const { return SymExpr::min(expr, number(1)); }
  SymExpr columns() const { return number(kWarp * int64_t(lanes)); }
  SymExpr columnTiles() const {
    return product(context, ArrayRef(shape.keptDims).drop_back()) *
           SymExpr::ceildiv(shape.keptDims.back(), kWarp * int64_t(lanes));
  }
  /// Threads go on where lines have more chunks than that, as they do where elements cannot be taken together.
  SymExpr lineBlocks() const {
    SymExpr chunks = SymExpr::ceildiv(combined, int64_t(lanes));
    SymExpr threads = SymExpr::max(SymExpr::min(chunks, number(kWarp)), number(1));
    SymExpr isLong = atMostOne(SymExpr::floordiv(combined, kWarpsChunks * int64_t(lanes) + 1));
    return SymExpr::max(SymExpr::ceildiv(results * threads, kThreads),
                        SymExpr::min(results, number(kManyLines)) * isLong);
  }

  MLIRContext *context;
  const ReductionShape &shape;
  unsigned lanes;
  SymExpr results, combined;
};

class ReductionEmitter {
public:
  using State = Fold::State;
  /// What is loaded at a position, and a state with that.
  struct Steps {
    function_ref<State(Value position)> load;
    function_ref<State(const State &before, const State &loaded, Value position)> add;
  };

  ReductionEmitter(SimtKernel &k, const ReductionShape &shape, const Cut &cut)
      : k(k), b(k.b), shape(shape), cut(cut), fold(Fold::of(k, shape.root)),
        together(k, *fold, shape.isAlongLines() ? 1 : cut.laneCount(), kThreads),
        results(k.e.uniform(product(b.getContext(), shape.keptDims))),
        parts(k.e.uniform(cut.parts())), one(number(1)) {}

  void emit() {
    // [first]
    if (k.isFirst)
      return elements(parts);
    if (!cut.isParted())
      return elements(one);
    k.choose(
        k.less(one, parts),
        [&] {
          finish();
          k.e.forget();
        },
        [&] {
          elements(one);
          k.e.forget();
        });
  }

private:
  Value number(int64_t value) { return constantI64(b, value); }
  Value both(Value a, Value c) { return b.create<arith::AndIOp>(a, c); }
  Value shiftLeft(Value a, Value bits) { return b.create<arith::ShLIOp>(a, bits); }
  Value shiftRight(Value a, Value bits) { return b.create<arith::ShRUIOp>(a, bits); }
  Value choice(Value condition, Value yes, Value no) {
    return b.create<arith::SelectOp>(condition, yes, no);
  }
  Value isFirstOf(Value count) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, number(0));
  }

  void elements(Value partCount) {
    SymExpr width = shape.input.getDims().back();
    Stream stream(k, width, cut.laneCount());
    stream.emit([&](unsigned lanes) {
      if (shape.isAlongLines())
        lines(lanes, partCount);
      else
        columns(lanes, partCount);
      k.e.forget();
    });
  }

  //===-- One thread ------------------------------------------------------------------------------------===//

  /// [walk] Positions from..to, `step` apart.
  State walkFrom(const State &init, Value from, Value to, Value step, unsigned lanes, Steps steps) {
    int64_t size = std::max<int64_t>(1, elementBits(shape.input.getElementType()) / 8);
    auto add = [&](ValueRange before, ValueRange loaded, Value position) {
      return Values(steps.add(State(before), State(loaded), position));
    };
    auto load = [&](Value position) { return Values(steps.load(position)); };
    return State(walk(k, init, {from, to, step, loadsOnTheWay(size * lanes)}, {load, add}));
  }

  SmallVector<IndexValue> digits(ArrayRef<SymExpr> dims, IndexValue number) {
    SmallVector<IndexValue> index(dims.size());
    for (size_t d = dims.size(); d-- > 1;)
      std::tie(number, index[d]) = k.e.divmod(number, k.e.symbolic(dims[d]));
    if (!dims.empty())
      index[0] = number;
    return index;
  }

  Value pull(ArrayRef<IndexValue> keptIndex, ArrayRef<IndexValue> reducedIndex) {
    SmallVector<IndexValue> at(shape.input.getRank());
    for (auto [d, i] : llvm::zip_equal(shape.kept, keptIndex))
      at[d] = i;
    for (auto [d, i] : llvm::zip_equal(shape.reduced, reducedIndex))
      at[d] = i;
    return k.e.pull(shape.root->getOperand(0), at);
  }

  /// Of a part of what is combined, a multiple of `multiple` but for the last.
  std::pair<Value, Value> range(Value count, Value part, Value partCount, int64_t multiple = 1) {
    if (partCount == one)
      return {number(0), count};
    Value size = b.createOrFold<arith::CeilDivUIOp>(count, k.mul(partCount, number(multiple)));
    size = k.mul(size, number(multiple));
    Value from = b.create<arith::MinSIOp>(k.mul(part, size), count);
    return {from, b.create<arith::MinSIOp>(k.add(from, size), count)};
  }

  //===-- Results ---------------------------------------------------------------------------------------===//

  /// Where there are parts, what `part` gives is kept; else the results are stored.
  void keep(const State &state, ArrayRef<IndexValue> index, Value place, Value part) {
    k.e.forget();
    if (k.isFirst)
      return storePart(state, k.add(k.mul(part, results), place));
    k.e.provide(shape.root->getResult(0),
                [&](ArrayRef<IndexValue>) { return fold->result(state); });
    k.storeResults(index);
    k.e.forget();
  }

  static Type inScratch(Type type) {
    return getElementTypeOrSelf(type).isInteger(1)
               ? (isa<VectorType>(type)
                      ? Type(cast<VectorType>(type).clone(IntegerType::get(type.getContext(), 8)))
                      : Type(IntegerType::get(type.getContext(), 8)))
               : type;
  }

  /// Of a field, from this place on; fields lie one behind the other.
  Value scratchPlace(size_t field, Type type, Value place) {
    Value words = k.mul(k.mul(results, parts), number(int64_t(field)));
    Value base = elementPointer(b, k.scratch, b.getI64Type(), words);
    return elementPointer(b, base, getElementTypeOrSelf(type), place);
  }

  static unsigned alignmentOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    int64_t lanes = vector ? vector.getNumElements() : 1;
    return unsigned(
        std::min<int64_t>(16, lanes * getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8));
  }

  /// What lanes hold is a multiple of their count.
  void storePart(const State &state, Value place) {
    for (auto [field, value] : llvm::enumerate(state)) {
      Type type = inScratch(value.getType());
      Value data = type == value.getType() ? value : Value(b.create<arith::ExtUIOp>(type, value));
      b.create<LLVM::StoreOp>(data, scratchPlace(field, type, place), alignmentOf(type));
    }
  }

  State loadPart(Value place) {
    State state;
    for (auto [field, own] : llvm::enumerate(fold->types())) {
      Type type = inScratch(own);
      Value data =
          b.create<LLVM::LoadOp>(type, scratchPlace(field, type, place), alignmentOf(type));
      state.push_back(type == own ? data : Value(b.create<arith::TruncIOp>(own, data)));
    }
    return state;
  }

  //===-- Lines -----------------------------------------------------------------------------------------===//

  /// [lines] Numbers of chunks count over all lines that are combined to one result.
  void lines(unsigned lanes, Value partCount) {
    Value width = k.e.uniform(shape.reducedDims.back());
    Value perLine = b.createOrFold<arith::DivUIOp>(width, number(lanes));
    Value chunks = perLine;
    if (shape.reduced.size() > 1)
      chunks = k.mul(perLine,
                     k.e.uniform(product(b.getContext(), ArrayRef(shape.reducedDims).drop_back())));
    if (k.isFirst)
      return longLines(lanes, perLine, chunks, partCount);
    Value isLong = both(k.less(number(kWarpsChunks), chunks),
                        b.create<arith::OrIOp>(k.less(results, number(kManyLines)),
                                               k.less(number(kManyChunks), chunks)));
    k.choose(
        isLong,
        [&] {
          longLines(lanes, perLine, chunks, partCount);
          k.e.forget();
        },
        [&] {
          shortLines(lanes, perLine, chunks);
          k.e.forget();
        });
  }

  Value pullChunk(ArrayRef<IndexValue> line, Value perLine, Value chunk, unsigned lanes) {
    IndexValue place{chunk}, outer;
    if (shape.reduced.size() > 1)
      std::tie(outer, place) = k.e.divmod({chunk}, {perLine});
    SmallVector<IndexValue> index = digits(ArrayRef(shape.reducedDims).drop_back(), outer);
    index.push_back({k.mul(place.base, number(lanes)), 1});
    return pull(line, index);
  }

  /// Of chunks from..to, by this thread.
  State walkLine(ArrayRef<IndexValue> line, Value perLine, Value from, Value to, Value step,
                 unsigned lanes) {
    unsigned stateLanes = fold->lineLanes(lanes);
    auto load = [&](Value chunk) -> State { return {pullChunk(line, perLine, chunk, lanes)}; };
    auto add = [&](const State &before, const State &loaded, Value chunk) {
      return fold->addChunk(before, loaded[0], chunk);
    };
    State state = walkFrom(fold->none(stateLanes), from, to, step, lanes, {load, add});
    return fold->joinLanes(fold->settled(state, k.less(from, to), from));
  }

  void keepLine(const State &state, ArrayRef<IndexValue> line, Value perLine, unsigned lanes,
                Value number, Value part) {
    State placed = fold->placed(
        state, lanes, [&](Value chunk) { return pullChunk(line, perLine, chunk, lanes); });
    k.e.setLanes(1);
    keep(placed, line, number, part);
    k.e.setLanes(lanes);
  }

  /// [long]
  void longLines(unsigned lanes, Value perLine, Value chunks, Value partCount) {
    k.inTurns(k.mul(results, partCount), [&](Value tile) {
      IndexValue line{tile}, part{number(0)};
      if (partCount != one)
        std::tie(line, part) = k.e.divmod({tile}, {partCount});
      auto [from, to] = range(chunks, part.base, partCount, kWarp);
      SmallVector<IndexValue> index = digits(shape.keptDims, line);
      State state = walkLine(index, perLine, k.add(from, k.inBlock), to, number(kThreads), lanes);
      state = together.join(state, one);
      k.when(isFirstOf(k.inBlock),
             [&] { keepLine(state, index, perLine, lanes, line.base, part.base); });
    });
  }

  /// [short] Threads of lines behind the last take part without elements.
  void shortLines(unsigned lanes, Value perLine, Value chunks) {
    Value bits = groupBits(k, chunks), count = shiftLeft(one, bits);
    Value blocksBits = k.sub(number(kThreadBits), bits), linesOfBlock = shiftLeft(one, blocksBits);
    Value member = both(k.inBlock, k.sub(count, one)), own = shiftRight(k.inBlock, bits);
    Value all = shiftRight(k.add(results, k.sub(linesOfBlock, one)), blocksBits);
    k.inTurns(all, [&](Value tile) {
      Value line = k.add(shiftLeft(tile, blocksBits), own), isThere = k.less(line, results);
      SmallVector<IndexValue> index = digits(shape.keptDims, {line});
      State state =
          walkLine(index, perLine, member, choice(isThere, chunks, number(0)), count, lanes);
      state = together.joinNeighbours(state, count);
      k.when(both(isThere, isFirstOf(member)),
             [&] { keepLine(state, index, perLine, lanes, line, number(0)); });
    });
  }

  //===-- Columns ---------------------------------------------------------------------------------------===//

  /// Chunks of columns and rows that a block walks, and what becomes of what they give.
  struct Columns {
    Value chunks, rows, outer, partCount; ///< outer: how many such rows of columns there are
    unsigned lanes;
    Fold::State none;
    function_ref<void(Value outer, Value chunk)> begin; ///< the thread's, in a tile
    function_ref<State(Value row)> load;
    function_ref<State(const State &before, const State &loaded, Value row)> add;
    function_ref<State(const State &state, Value hasAny, Value row)> settled;
    function_ref<void(const State &state, Value part)> keep;
  };

  /// [columns]
  void columns(const Columns &c) {
    Value bits = groupBits(k, c.chunks), width = shiftLeft(one, bits);
    Value height = shiftLeft(one, k.sub(number(kThreadBits), bits));
    Value blocks = shiftRight(k.add(c.chunks, k.sub(width, one)), bits);
    Value own = both(k.inBlock, k.sub(width, one)), first = shiftRight(k.inBlock, bits);
    k.inTurns(k.mul(k.mul(blocks, c.outer), c.partCount), [&](Value tile) {
      auto [rest, place] = k.e.divmod({tile}, {blocks});
      IndexValue part{number(0)}, outer = rest;
      if (c.partCount != one)
        std::tie(part, outer) = k.e.divmod(rest, {c.outer});
      Value chunk = k.add(shiftLeft(place.base, bits), own), isThere = k.less(chunk, c.chunks);
      auto [begin, end] = range(c.rows, part.base, c.partCount);
      Value from = k.add(begin, first), to = choice(isThere, end, number(0));
      c.begin(outer.base, chunk);
      State state = walkFrom(c.none, from, to, height, c.lanes, {c.load, c.add});
      state = together.join(c.settled(state, k.less(from, to), from), width);
      k.when(both(isThere, isFirstOf(first)), [&] { c.keep(state, part.base); });
    });
  }

  /// Of the operand.
  void columns(unsigned lanes, Value partCount) {
    ArrayRef<SymExpr> outerDims = ArrayRef(shape.keptDims).drop_back();
    Value width = k.e.uniform(shape.keptDims.back());
    SmallVector<IndexValue> at;
    Value place;
    auto begin = [&](Value outer, Value chunk) {
      at = digits(outerDims, {outer});
      at.push_back({k.mul(chunk, number(lanes)), 1});
      place = k.add(k.mul(outer, width), at.back().base);
    };
    auto load = [&](Value row) -> State { return {pull(at, digits(shape.reducedDims, {row}))}; };
    auto add = [&](const State &before, const State &loaded, Value row) {
      return fold->add(before, loaded[0], row);
    };
    auto settled = [&](const State &state, Value hasAny, Value row) {
      return fold->settled(state, hasAny, row);
    };
    auto store = [&](const State &state, Value part) { keep(state, at, place, part); };
    columns({b.createOrFold<arith::DivUIOp>(width, number(lanes)),
             k.e.uniform(product(b.getContext(), shape.reducedDims)),
             k.e.uniform(product(b.getContext(), outerDims)), partCount, lanes, fold->none(lanes),
             begin, load, add, settled, store});
  }

  /// [finish]
  void finish() {
    Value column;
    auto begin = [&](Value, Value chunk) { column = chunk; };
    auto load = [&](Value part) { return loadPart(k.add(k.mul(part, results), column)); };
    auto add = [&](const State &before, const State &loaded, Value) {
      return fold->join(before, loaded);
    };
    auto settled = [&](const State &state, Value, Value) { return state; };
    auto store = [&](const State &state, Value) {
      keep(state, digits(shape.keptDims, {column}), column, number(0));
    };
    columns({results, parts, one, one, 1, fold->none(1), begin, load, add, settled, store});
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  const ReductionShape &shape;
  const Cut &cut;
  std::unique_ptr<Fold> fold;
  BlockFold together;
  Value results, parts, one;
};

class ReductionsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "reduce"; }
  int64_t threads() const override { return kThreads; }
  /// The place of an extreme takes registers, too.
  int64_t blocksAtOnce(func::FuncOp spec) const override {
    return isa<ReduceOp>(matchReduction(spec)->root) ? 2 : 1;
  }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchReduction(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    Match<ReductionShape> shape = matchReduction(spec);
    Cut cut(spec, *shape);
    Launch launch = blocks(cut.blocks(), 1);
    if (!cut.isParted())
      return launch;
    int64_t fields = isa<ArgReduceOp>(shape->root) ? 2 : 1;
    launch.first = cut.firstBlocks();
    launch.scratch = cut.scratchWords() * (8 * fields);
    return launch;
  }

  void emit(SimtKernel &k) const override {
    Match<ReductionShape> shape = matchReduction(k.spec);
    Cut cut(k.spec, *shape);
    ReductionEmitter(k, *shape, cut).emit();
  }
};

} // namespace

const SimtSchedule *simtReductions() {
  static const ReductionsSchedule schedule;
  return &schedule;
}

} // namespace weft
