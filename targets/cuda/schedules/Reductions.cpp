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
//   blocks share what is combined to a line's result, or to those of a tile of columns: a part each  [parts]
//   and leave what it gives; the last block joins them (BlockParts.h)                              [leave]
//     columns of as many rows as there are parts                                                   [finish]
//
// What is in which part depends on sizes alone: the same sums in every run.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cuda/Fold.h"
#include "targets/cuda/LineThreads.h"
#include "targets/cuda/ReductionCut.h"
#include "targets/cuda/Stream.h"
#include "targets/cuda/Walk.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kThreads = ReductionCut::kThreads, kThreadBits = 9, kWarp = SimtMachine::kWarp;

class ReductionEmitter {
public:
  using State = Fold::State;
  /// What is loaded at a position, and a state with that.
  struct Steps {
    function_ref<State(Value position)> load;
    function_ref<State(const State &before, const State &loaded, Value position)> add;
  };

  ReductionEmitter(SimtKernel &k, const ReductionShape &shape, const ReductionCut &cut)
      : k(k), b(k.b), shape(shape), cut(cut), fold(Fold::of(k, shape.root)),
        together(k, *fold, shape.isAlongLines() ? 1 : cut.laneCount(), kThreads),
        results(k.e.uniform(elementsOf(b.getContext(), shape.keptDims))), one(number(1)) {
    if (cut.isParted())
      parts.emplace(k, cut.parts(), cut.partBytes(), together.spare());
  }

  void emit() {
    if (!parts)
      return whole();
    auto alone = [&](function_ref<void()> body) {
      body();
      k.e.forget();
    };
    k.choose(
        k.less(one, parts->count), [&] { alone([&] { shared(); }); },
        [&] { alone([&] { whole(); }); });
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

  void eachVersion(function_ref<void(unsigned lanes)> body) {
    Stream stream(k, shape.input.getDims().back(), cut.laneCount());
    stream.emit([&](unsigned lanes) {
      body(lanes);
      k.e.forget();
    });
  }

  /// A block combines all that belongs to a result.
  void whole() {
    eachVersion([&](unsigned lanes) {
      if (shape.isAlongLines())
        lines(lanes);
      else
        columns(lanes);
    });
  }

  /// [parts]
  void shared() {
    k.when(k.less(k.block, k.mul(k.e.uniform(cut.groups()), parts->count)), [&] {
      parts->join(
          [&] {
            eachVersion([&](unsigned lanes) {
              if (shape.isAlongLines())
                leaveLine(lanes);
              else
                leaveColumns(lanes);
            });
          },
          [&] { finish(); }, BlockParts::Leavers::FirstWarp);
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

  /// Of the block's part of what is combined, a multiple of `multiple` but for the last.
  std::pair<Value, Value> ownRange(Value count, int64_t multiple = 1) {
    Value size = b.createOrFold<arith::CeilDivUIOp>(count, k.mul(parts->count, number(multiple)));
    size = k.mul(size, number(multiple));
    Value from = b.create<arith::MinSIOp>(k.mul(parts->part, size), count);
    return {from, b.create<arith::MinSIOp>(k.add(from, size), count)};
  }

  //===-- Results ---------------------------------------------------------------------------------------===//

  void keep(const State &state, ArrayRef<IndexValue> index) {
    k.e.forget();
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

  /// Of a field of a part, from this column of the group on; fields lie one behind the other.
  Value placeIn(Value part, size_t field, Type type, Value column) {
    Value base = elementPointer(b, part, b.getI8Type(), number(cut.fieldBytes() * int64_t(field)));
    return elementPointer(b, base, getElementTypeOrSelf(type), column);
  }

  static unsigned alignmentOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    int64_t lanes = vector ? vector.getNumElements() : 1;
    return unsigned(
        std::min<int64_t>(16, lanes * getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8));
  }

  /// What lanes hold is a multiple of their count.
  void storePart(const State &state, Value column) {
    Value own = parts->own();
    for (auto [field, value] : llvm::enumerate(state)) {
      Type type = inScratch(value.getType());
      Value data = type == value.getType() ? value : Value(b.create<arith::ExtUIOp>(type, value));
      b.create<LLVM::StoreOp>(data, placeIn(own, field, type, column), alignmentOf(type));
    }
  }

  State loadPart(Value which, Value column) {
    Value part = parts->at(which);
    State state;
    for (auto [field, own] : llvm::enumerate(fold->types())) {
      Type type = inScratch(own);
      Value data =
          b.create<LLVM::LoadOp>(type, placeIn(part, field, type, column), alignmentOf(type));
      state.push_back(type == own ? data : Value(b.create<arith::TruncIOp>(own, data)));
    }
    return state;
  }

  //===-- Lines -----------------------------------------------------------------------------------------===//

  Value chunksOfLine(unsigned lanes) {
    return b.createOrFold<arith::DivUIOp>(k.e.uniform(shape.reducedDims.back()), number(lanes));
  }

  /// Numbers of chunks count over all lines that are combined to one result.
  Value chunksOfResult(Value perLine) {
    if (shape.reduced.size() == 1)
      return perLine;
    return k.mul(perLine,
                 k.e.uniform(elementsOf(b.getContext(), ArrayRef(shape.reducedDims).drop_back())));
  }

  /// [lines]
  void lines(unsigned lanes) {
    int64_t inChunk = cut.laneCount() / lanes; // of elements that cannot be taken together
    int64_t warpsChunks = inChunk * ReductionCut::kWarpsChunks, manyChunks = inChunk * 1024;
    Value perLine = chunksOfLine(lanes), chunks = chunksOfResult(perLine);
    Value isLong = both(k.less(number(warpsChunks), chunks),
                        b.create<arith::OrIOp>(k.less(results, number(ReductionCut::kManyLines)),
                                               k.less(number(manyChunks), chunks)));
    k.choose(
        isLong,
        [&] {
          longLines(lanes, perLine, chunks);
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

  /// By the first thread.
  void withPlace(const State &state, ArrayRef<IndexValue> line, Value perLine, unsigned lanes,
                 function_ref<void(const State &placed)> body) {
    State placed = fold->placed(
        state, lanes, [&](Value chunk) { return pullChunk(line, perLine, chunk, lanes); });
    k.e.setLanes(1);
    body(placed);
    k.e.setLanes(lanes);
  }

  void keepLine(const State &state, ArrayRef<IndexValue> line, Value perLine, unsigned lanes) {
    withPlace(state, line, perLine, lanes, [&](const State &placed) { keep(placed, line); });
  }

  /// By all threads of the block, for the first of them.
  State combineLine(ArrayRef<IndexValue> line, Value perLine, Value from, Value to,
                    unsigned lanes) {
    return together.join(
        walkLine(line, perLine, k.add(from, k.inBlock), to, number(kThreads), lanes), one);
  }

  /// [long]
  void longLines(unsigned lanes, Value perLine, Value chunks) {
    k.inTurns(results, [&](Value line) {
      SmallVector<IndexValue> index = digits(shape.keptDims, {line});
      State state = combineLine(index, perLine, number(0), chunks, lanes);
      k.when(isFirstOf(k.inBlock), [&] { keepLine(state, index, perLine, lanes); });
    });
  }

  /// [leave]
  void leaveLine(unsigned lanes) {
    Value perLine = chunksOfLine(lanes), chunks = chunksOfResult(perLine);
    auto [from, to] = ownRange(chunks, kWarp);
    SmallVector<IndexValue> index = digits(shape.keptDims, {parts->group});
    State state = combineLine(index, perLine, from, to, lanes);
    k.when(isFirstOf(k.inBlock), [&] {
      withPlace(state, index, perLine, lanes,
                [&](const State &placed) { storePart(placed, number(0)); });
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
      k.when(both(isThere, isFirstOf(member)), [&] { keepLine(state, index, perLine, lanes); });
    });
  }

  //===-- Columns ---------------------------------------------------------------------------------------===//

  /// Chunks of columns, up to a warp of them from the first, and rows; bits: of so many threads side by side.
  struct Place {
    Value first, end, bits, from, to;
  };

  /// What a block walks, and what becomes of what it gives.
  struct Tile {
    Place at;
    unsigned lanes;
    Fold::State none;
    function_ref<void(Value chunk)> begin; ///< the thread's
    function_ref<State(Value row)> load;
    function_ref<State(const State &before, const State &loaded, Value row)> add;
    function_ref<State(const State &state, Value hasAny, Value row)> settled;
    function_ref<void(const State &state)> keep;
  };

  void walkTile(const Tile &t) {
    Value width = shiftLeft(one, t.at.bits),
          height = shiftLeft(one, k.sub(number(kThreadBits), t.at.bits));
    Value own = both(k.inBlock, k.sub(width, one)), row = shiftRight(k.inBlock, t.at.bits);
    Value chunk = k.add(t.at.first, own), isThere = k.less(chunk, t.at.end);
    Value from = k.add(t.at.from, row), to = choice(isThere, t.at.to, number(0));
    t.begin(chunk);
    State state = walkFrom(t.none, from, to, height, t.lanes, {t.load, t.add});
    state = together.join(t.settled(state, k.less(from, to), from), width);
    k.when(both(isThere, isFirstOf(row)), [&] { t.keep(state); });
  }

  using KeepColumns = function_ref<void(const State &state, ArrayRef<IndexValue> at)>;

  /// Of the operand.
  void operandTile(unsigned lanes, Value outer, const Place &place, KeepColumns keepColumns) {
    SmallVector<IndexValue> at;
    auto begin = [&](Value chunk) {
      at = digits(ArrayRef(shape.keptDims).drop_back(), {outer});
      at.push_back({k.mul(chunk, number(lanes)), 1});
    };
    auto load = [&](Value row) -> State { return {pull(at, digits(shape.reducedDims, {row}))}; };
    auto add = [&](const State &before, const State &loaded, Value row) {
      return fold->add(before, loaded[0], row);
    };
    auto settled = [&](const State &state, Value hasAny, Value row) {
      return fold->settled(state, hasAny, row);
    };
    auto store = [&](const State &state) { keepColumns(state, at); };
    walkTile({place, lanes, fold->none(lanes), begin, load, add, settled, store});
  }

  Value columnChunks(unsigned lanes) {
    return b.createOrFold<arith::DivUIOp>(k.e.uniform(shape.keptDims.back()), number(lanes));
  }
  Value rowCount() { return k.e.uniform(elementsOf(b.getContext(), shape.reducedDims)); }

  /// [columns]
  void columns(unsigned lanes) {
    Value chunks = columnChunks(lanes), bits = groupBits(k, chunks), width = shiftLeft(one, bits);
    Value beside = shiftRight(k.add(chunks, k.sub(width, one)), bits);
    Value outers = k.e.uniform(elementsOf(b.getContext(), ArrayRef(shape.keptDims).drop_back()));
    k.inTurns(k.mul(beside, outers), [&](Value tile) {
      auto [outer, place] = k.e.divmod({tile}, {beside});
      operandTile(lanes, outer.base,
                  {shiftLeft(place.base, bits), chunks, bits, number(0), rowCount()},
                  [&](const State &state, ArrayRef<IndexValue> at) { keep(state, at); });
    });
  }

  /// [leave] A group has the same columns, whatever threads hold.
  void leaveColumns(unsigned lanes) {
    Value chunks = columnChunks(lanes), bits = groupBits(k, chunks);
    auto [outer, place] = k.e.divmod({parts->group}, {k.e.uniform(cut.groupsBeside())});
    Value perGroup = number(cut.groupColumns() / lanes), first = k.mul(place.base, perGroup),
          end = b.create<arith::MinSIOp>(k.add(first, perGroup), chunks);
    Value firstColumn = k.mul(first, number(lanes)), own = outer.base;
    std::pair<Value, Value> rows = ownRange(rowCount());
    auto leave = [&](Value begin) {
      k.e.forget();
      operandTile(lanes, own, {begin, end, bits, rows.first, rows.second},
                  [&](const State &state, ArrayRef<IndexValue> at) {
                    storePart(state, k.sub(at.back().base, firstColumn));
                  });
      k.e.forget();
    };
    if (lanes == cut.laneCount()) // they are a warp's
      leave(first);
    else
      k.loop(first, end, kWarp, leave);
  }

  /// Of the group: its first result, and how many there are.
  std::pair<Value, Value> ownResults() {
    if (shape.isAlongLines())
      return {parts->group, one};
    auto [outer, place] = k.e.divmod({parts->group}, {k.e.uniform(cut.groupsBeside())});
    Value all = k.e.uniform(shape.keptDims.back()), columns = number(cut.groupColumns()),
          first = k.mul(place.base, columns);
    return {k.add(k.mul(outer.base, all), first),
            b.create<arith::MinSIOp>(columns, k.sub(all, first))};
  }

  /// [finish] Rows are parts.
  void finish() {
    auto [firstResult, count] = ownResults();
    Value bits = groupBits(k, count), column, first = firstResult;
    auto begin = [&](Value own) { column = own; };
    auto load = [&](Value part) { return loadPart(part, column); };
    auto add = [&](const State &before, const State &loaded, Value) {
      return fold->join(before, loaded);
    };
    auto settled = [&](const State &state, Value, Value) { return state; };
    auto store = [&](const State &state) {
      keep(state, digits(shape.keptDims, {k.add(first, column)}));
    };
    k.loop(number(0), count, kWarp, [&, end = count](Value from) {
      k.e.forget();
      walkTile({{from, end, bits, number(0), parts->count},
                1,
                fold->none(1),
                begin,
                load,
                add,
                settled,
                store});
      k.e.forget();
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  const ReductionShape &shape;
  const ReductionCut &cut;
  std::unique_ptr<Fold> fold;
  BlockFold together;
  Value results, one;
  std::optional<BlockParts> parts; ///< where blocks may share
};

class ReductionsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "reduce"; }
  int64_t threads() const override { return kThreads; }
  /// The place of an extreme takes registers, too, and so do the places of columns that blocks share.
  int64_t blocksAtOnce(func::FuncOp spec) const override {
    Match<ReductionShape> shape = matchReduction(spec);
    return isa<ReduceOp>(shape->root) && shape->isAlongLines() ? 2 : 1;
  }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchReduction(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &machine) const override {
    Match<ReductionShape> shape = matchReduction(spec);
    ReductionCut cut(spec, *shape, machine);
    Launch launch = blocks(cut.blocks(), 1);
    launch.scratch = cut.scratch();
    return launch;
  }

  bool isCounted(func::FuncOp spec, const SimtMachine &machine) const override {
    Match<ReductionShape> shape = matchReduction(spec);
    return ReductionCut(spec, *shape, machine).isParted();
  }

  void emit(SimtKernel &k) const override {
    Match<ReductionShape> shape = matchReduction(k.spec);
    ReductionCut cut(k.spec, *shape, k.machine);
    ReductionEmitter(k, *shape, cut).emit();
  }
};

} // namespace

const SimtSchedule *simtReductions() {
  static const ReductionsSchedule schedule;
  return &schedule;
}

} // namespace weft
