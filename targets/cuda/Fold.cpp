//===- Fold.cpp ---------------------------------------------------------------------------------------===//
//
//   reduction: combine                                                            [reduce]
//   place of an extreme: an element that is better takes the place of the best    [extreme]
//     a line's is a chunk at first; the winner's elements are looked at again     [chunk]
//   block: of twice as many threads the second half writes, the first joins, …    [halves]
//     those of a warp exchange                                                    [warp]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/Fold.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

Fold::Fold(SimtKernel &k, Operation *root, Combiner combiner)
    : k(k), b(k.b), element(cast<SymTensorType>(root->getOperand(0).getType()).getElementType()),
      scalar(computeType(element)), combiner(combiner), fields{scalar} {}

static unsigned laneCount(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? unsigned(vector.getNumElements()) : 1;
}

static Value filled(ImplicitLocOpBuilder &b, TypedAttr value, unsigned lanes) {
  if (lanes > 1)
    value = DenseElementsAttr::get(VectorType::get({lanes}, value.getType()), Attribute(value));
  return b.create<arith::ConstantOp>(value);
}

static Value splat(ImplicitLocOpBuilder &b, Value value, unsigned lanes) {
  if (lanes == 1)
    return value;
  return b.create<vector::BroadcastOp>(VectorType::get({lanes}, value.getType()), value);
}

/// Halves, quarters, … of the lanes.
Fold::State Fold::joinLanes(const State &state) {
  State all = state;
  for (int64_t width = laneCount(state[0]) / 2; width >= 1; width /= 2) {
    State low, high;
    for (Value field : all)
      for (auto [half, from] : {std::pair(&low, int64_t(0)), std::pair(&high, width)})
        half->push_back(b.create<vector::ExtractStridedSliceOp>(
            field, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1}));
    all = join(low, high);
  }
  for (Value &field : all)
    if (isa<VectorType>(field.getType()))
      field = b.create<vector::ExtractOp>(field, ArrayRef<int64_t>{0});
  return all;
}

namespace {

/// [reduce]
class ReduceFold : public Fold {
public:
  ReduceFold(SimtKernel &k, ReduceOp op) : Fold(k, op, Combiner(op.getKind())) {}

  State none(unsigned lanes) override {
    return {filled(b, combinerIdentity(combiner, element), lanes)};
  }
  State add(const State &before, Value elements, Value) override {
    return join(before, {elements});
  }
  State join(const State &a, const State &c) override {
    return {emitCombine(b, combiner, element, a[0], c[0])};
  }
  Value result(const State &state) override { return state[0]; }
};

/// [extreme] Of equal ones the first counts, or the last.
class ExtremeFold : public Fold {
public:
  ExtremeFold(SimtKernel &k, ArgReduceOp op)
      : Fold(k, op, op.getKind() == ExtremumKind::Max ? Combiner::Max : Combiner::Min),
        isLast(op.getSelectLast()) {
    fields.push_back(b.getI64Type());
  }

  State none(unsigned lanes) override {
    return {filled(b, combinerIdentity(combiner, element), lanes), filled(b, nowhere(), lanes)};
  }

  State add(const State &before, Value elements, Value position) override {
    Value better = isBetter(elements, before[0]);
    position = splat(b, position, laneCount(elements));
    return {b.create<arith::SelectOp>(better, elements, before[0]),
            b.create<arith::SelectOp>(better, position, before[1])};
  }

  /// No element was better than nothing: all are alike.
  State settled(const State &state, Value hasAny, Value position) override {
    if (isLast)
      return state;
    unsigned lanes = laneCount(state[0]);
    Value isNowhere =
        b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, state[1], filled(b, nowhere(), lanes));
    Value isFirst = b.create<arith::AndIOp>(isNowhere, splat(b, hasAny, lanes));
    return {state[0], b.create<arith::SelectOp>(isFirst, splat(b, position, lanes), state[1])};
  }

  State join(const State &a, const State &c) override {
    Value best = emitCombine(b, combiner, element, a[0], c[0]);
    Value none = filled(b, nowhere(), laneCount(best));
    auto place = [&](const State &of) -> Value {
      return b.create<arith::SelectOp>(isFrom(of[0], best), of[1], none);
    };
    return {best, earlier(place(a), place(c))};
  }

  unsigned lineLanes(unsigned) override { return 1; }

  State addChunk(const State &before, Value elements, Value chunk) override {
    return add(before, combineLanes(b, combiner, element, elements), chunk);
  }

  /// [chunk] Nothing was found in a line without elements.
  State placed(const State &state, unsigned lanes, function_ref<Value(Value)> pull) override {
    if (lanes == 1)
      return state;
    Value none = filled(b, nowhere(), 1);
    Value isThere = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, state[1], none);
    auto branch = b.create<scf::IfOp>(TypeRange(b.getI64Type()), isThere, true);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(none);
    b.setInsertionPointToStart(branch.thenBlock());
    k.e.forget();
    Value hits = isFrom(pull(state[1]), splat(b, state[0], lanes));
    k.e.forget();
    Value found = none, first = k.mul(state[1], constantI64(b, lanes));
    for (int64_t l = 0; l < int64_t(lanes); ++l) {
      Value place = k.add(first, constantI64(b, l));
      found = b.create<arith::SelectOp>(b.create<vector::ExtractOp>(hits, ArrayRef<int64_t>{l}),
                                        earlier(found, place), found);
    }
    b.create<scf::YieldOp>(found);
    return {state[0], branch.getResult(0)};
  }

  Value result(const State &state) override { return state[1]; }
  /// Places are wide.
  unsigned mostLanes() const override { return 4; }

private:
  TypedAttr nowhere() {
    return b.getI64IntegerAttr(isLast ? -1 : std::numeric_limits<int64_t>::max());
  }

  Value earlier(Value p, Value q) {
    if (isLast)
      return b.create<arith::MaxSIOp>(p, q);
    return b.create<arith::MinSIOp>(p, q);
  }

  /// Whether what comes later takes the place of the best; a nan is better than all numbers.
  Value isBetter(Value later, Value best) {
    bool isMax = combiner == Combiner::Max;
    if (!isFloat(element)) {
      using P = arith::CmpIPredicate;
      P strict = isUnsigned(element) ? (isMax ? P::ugt : P::ult) : (isMax ? P::sgt : P::slt);
      P equal = isUnsigned(element) ? (isMax ? P::uge : P::ule) : (isMax ? P::sge : P::sle);
      return b.create<arith::CmpIOp>(isLast ? equal : strict, later, best);
    }
    using P = arith::CmpFPredicate;
    Value isNan = b.create<arith::CmpFOp>(P::UNO, later, later);
    P better = isMax ? (isLast ? P::OGE : P::OGT) : (isLast ? P::OLE : P::OLT);
    Value wins = b.create<arith::CmpFOp>(better, later, best);
    if (!isLast)
      isNan = b.create<arith::AndIOp>(isNan, b.create<arith::CmpFOp>(P::ORD, best, best));
    return b.create<arith::OrIOp>(wins, isNan);
  }

  /// Whether an extreme came from these elements: they are equal to it, or nan.
  Value isFrom(Value elements, Value extreme) {
    if (!isFloat(element))
      return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, elements, extreme);
    Value isNan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, elements, elements);
    return b.create<arith::OrIOp>(
        isNan, b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, elements, extreme));
  }

  bool isLast;
};

} // namespace

std::unique_ptr<Fold> Fold::of(SimtKernel &k, Operation *root) {
  if (auto reduce = dyn_cast<ReduceOp>(root))
    return std::make_unique<ReduceFold>(k, reduce);
  return std::make_unique<ExtremeFold>(k, cast<ArgReduceOp>(root));
}

//===-- Blocks ------------------------------------------------------------------------------------===//

/// In shared memory, numbers narrower than words are words.
static Type sharedType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type scalar = getElementTypeOrSelf(type);
  if (scalar.getIntOrFloatBitWidth() >= 32)
    return type;
  scalar = IntegerType::get(type.getContext(), 32);
  return vector ? Type(vector.clone(scalar)) : scalar;
}

static constexpr int64_t kPiece = 16; ///< bytes that a thread reads at once

BlockFold::BlockFold(SimtKernel &k, Fold &fold, unsigned lanes, int64_t threads)
    : k(k), b(k.b), fold(fold), threads(threads), bytes(0) {
  for (Type type : fold.types())
    bytes += int64_t(lanes) * sharedType(type).getIntOrFloatBitWidth() / 8;
  shared = k.sharedBytes(threads * bytes);
}

/// Runs `body` for the parts of a field of at most 16 bytes, and how far behind it each is, by its number of bytes.
static void inPieces(Type type,
                     function_ref<void(int64_t first, int64_t lanes, int64_t bytes)> body) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t lanes = vector ? vector.getNumElements() : 1,
          size = getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8,
          together = std::min(lanes, kPiece / size);
  for (int64_t first = 0; first < lanes; first += together)
    body(first, together, together * size);
}

/// The same piece of all threads lies together: no two of them meet in a bank.
void BlockFold::write(const Fold::State &state, Value thread, int64_t base, int64_t count) {
  for (Value field : state) {
    Type type = sharedType(field.getType());
    if (type != field.getType())
      field = b.create<arith::ExtUIOp>(type, field);
    inPieces(type, [&](int64_t first, int64_t lanes, int64_t size) {
      Value piece = field;
      if (isa<VectorType>(type))
        piece = b.create<vector::ExtractStridedSliceOp>(
            field, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
      Value place = k.add(k.mul(thread, constantI64(b, size)), constantI64(b, base));
      k.storeShared(piece, shared, place);
      base += count * size;
    });
  }
}

Fold::State BlockFold::read(const Fold::State &like, Value thread, int64_t base, int64_t count) {
  Fold::State state;
  for (Value field : like) {
    Type type = sharedType(field.getType());
    auto vector = dyn_cast<VectorType>(type);
    Value whole = vector ? Value(b.create<arith::ConstantOp>(b.getZeroAttr(type))) : Value();
    inPieces(type, [&](int64_t first, int64_t lanes, int64_t size) {
      Type part = vector ? Type(VectorType::get({lanes}, vector.getElementType())) : type;
      Value place = k.add(k.mul(thread, constantI64(b, size)), constantI64(b, base));
      Value piece = k.loadShared(part, shared, place);
      whole = vector ? Value(b.create<vector::InsertStridedSliceOp>(
                           piece, whole, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1}))
                     : piece;
      base += count * size;
    });
    if (type != field.getType())
      whole = b.create<arith::TruncIOp>(field.getType(), whole);
    state.push_back(whole);
  }
  return state;
}

/// [halves] Every step has memory of its own, so a barrier each is enough: what follows, also for other states, does not come to a step's memory
/// before all have passed two more.
Fold::State BlockFold::through(const Fold::State &state, int64_t distance) {
  int64_t base = (threads - 2 * distance) * bytes;
  Value limit = constantI64(b, distance);
  Value isSecond =
      b.create<arith::AndIOp>(k.less(k.inBlock, constantI64(b, 2 * distance)),
                              b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, k.inBlock, limit));
  k.when(isSecond, [&] { write(state, k.sub(k.inBlock, limit), base, distance); });
  k.gatherBlock();
  SmallVector<Type> types;
  for (Value field : state)
    types.push_back(field.getType());
  auto branch = b.create<scf::IfOp>(TypeRange(types), k.less(k.inBlock, limit), true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(ValueRange(state));
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(ValueRange(fold.join(state, read(state, k.inBlock, base, distance))));
  return Fold::State(branch.getResults());
}

/// Behind the memory of the last step, which is that of a warp.
Value BlockFold::spare() const {
  return k.sharedPlace(shared, constantI64(b, (threads - SimtMachine::kWarp) * bytes));
}

Fold::State BlockFold::join(Fold::State state, Value distance) {
  for (int64_t half = threads / 2; half >= SimtMachine::kWarp; half /= 2)
    state = through(state, half);
  return joinWarp(state, distance);
}

Fold::State BlockFold::exchanged(const Fold::State &state, unsigned bits) {
  Fold::State other;
  for (Value field : state) {
    auto vector = dyn_cast<VectorType>(field.getType());
    if (!vector) {
      other.push_back(k.exchange(field, bits));
      continue;
    }
    SmallVector<Value> lanes;
    for (int64_t l = 0; l < vector.getNumElements(); ++l)
      lanes.push_back(k.exchange(b.create<vector::ExtractOp>(field, ArrayRef<int64_t>{l}), bits));
    other.push_back(b.create<vector::FromElementsOp>(vector, lanes));
  }
  return other;
}

/// The condition is the same in all threads of the block.
Fold::State BlockFold::joinIf(Value condition, const Fold::State &state, unsigned bits) {
  SmallVector<Type> types;
  for (Value field : state)
    types.push_back(field.getType());
  auto branch = b.create<scf::IfOp>(TypeRange(types), condition, true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(ValueRange(state));
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(ValueRange(fold.join(state, exchanged(state, bits))));
  return Fold::State(branch.getResults());
}

/// [warp]
Fold::State BlockFold::joinWarp(Fold::State state, Value distance) {
  for (int64_t bits = SimtMachine::kWarp / 2; bits >= 1; bits /= 2)
    state =
        joinIf(b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, constantI64(b, bits), distance),
               state, unsigned(bits));
  return state;
}

Fold::State BlockFold::joinNeighbours(Fold::State state, Value count) {
  for (int64_t bits = SimtMachine::kWarp / 2; bits >= 1; bits /= 2)
    state = joinIf(k.less(constantI64(b, bits), count), state, unsigned(bits));
  return state;
}

} // namespace weft
