//===- WholeVectors.cpp - Loads and stores with masks, where nothing takes a mask -------------------===//
//
//   what a mask says: a limit of lanes, a yes or no for all, several of these, or anything   [inside]
//   load, store: if all lanes are inside: a whole vector                                     [whole]
//                else, below a limit: halves of a vector, quarters, …                        [pieces]
//                else: with its mask, which LLVM makes a branch per lane of
//   gather: if all lanes are inside: without a mask, which takes no branch; else with it     [gather]
//
//   before   %y = masked.load %p, (0, 1, 2, 3) < n       after   if (n >= 4)      y = four at p
//                                                                else if (n >= 2) y = two at p, if (n >= 3) and one at p + 2
//                                                                else if (n >= 1) y = one at p
//
// Masks are for ends of lines and borders of images: most are full. Which they are is seldom known before a kernel runs, so it is asked
// there: one comparison of a limit, instead of several instructions per lane.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/WholeVectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "targets/cpu/machine/VectorMachine.h"

using namespace mlir;

namespace weft {
namespace {

/// What a mask says of its lanes.
struct Inside {
  Value all; ///< i1: every lane is inside
  Value
      count; ///< so many lanes are, the first ones; may be below 0 or more than there are. Null: others may be
};

/// A vector that is a number plus 0, 1, 2, … : the number. Null for others.
Value firstOfSteps(ImplicitLocOpBuilder &b, Value lanes) {
  DenseIntElementsAttr steps;
  Value base;
  if (auto sum = lanes.getDefiningOp<arith::AddIOp>()) {
    auto splat = sum.getLhs().getDefiningOp<vector::SplatOp>();
    if (!splat || !matchPattern(sum.getRhs(), m_Constant(&steps)))
      return {};
    base = splat.getInput();
  } else if (!matchPattern(lanes, m_Constant(&steps))) {
    return {};
  }
  APInt first = *steps.begin();
  for (auto [i, step] : llvm::enumerate(steps))
    if (step != first + i)
      return {};
  auto type = cast<VectorType>(lanes.getType()).getElementType();
  Value start = b.create<arith::ConstantOp>(b.getIntegerAttr(type, first));
  return base ? b.createOrFold<arith::AddIOp>(base, start) : start;
}

/// A vector with one number in all lanes: the number.
Value numberInAll(ImplicitLocOpBuilder &b, Value lanes) {
  if (auto splat = lanes.getDefiningOp<vector::SplatOp>())
    return splat.getInput();
  DenseElementsAttr numbers;
  if (!matchPattern(lanes, m_Constant(&numbers)) || !numbers.isSplat())
    return {};
  return b.create<arith::ConstantOp>(cast<TypedAttr>(numbers.getSplatValue<Attribute>()));
}

Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value a, int64_t c) {
  Value number = b.create<arith::ConstantOp>(b.getIntegerAttr(a.getType(), c));
  return b.createOrFold<arith::CmpIOp>(predicate, a, number);
}
Value atLeast(ImplicitLocOpBuilder &b, Value a, int64_t c) {
  return compare(b, arith::CmpIPredicate::sge, a, c);
}

int64_t lanesOf(Value vector) { return cast<VectorType>(vector.getType()).getNumElements(); }

/// Of lanes compared with one number: those below a limit, or from one on.
Inside insideLimit(ImplicitLocOpBuilder &b, arith::CmpIOp mask) {
  Value first = firstOfSteps(b, mask.getLhs()), limit = numberInAll(b, mask.getRhs());
  if (!first || !limit)
    return {};
  Value count = b.createOrFold<arith::SubIOp>(limit, first);
  switch (mask.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return {atLeast(b, count, lanesOf(mask)), count};
  case arith::CmpIPredicate::sge:
    return {compare(b, arith::CmpIPredicate::sle, count, 0), {}};
  default:
    return {};
  }
}

/// [inside] Null where nothing is known but lane by lane.
Inside insideOf(ImplicitLocOpBuilder &b, Value mask) {
  if (auto limit = mask.getDefiningOp<arith::CmpIOp>())
    return insideLimit(b, limit);
  if (auto splat = mask.getDefiningOp<vector::SplatOp>()) {
    Value every = b.create<arith::ConstantOp>(b.getI64IntegerAttr(lanesOf(mask))),
          none = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0));
    return {splat.getInput(), b.create<arith::SelectOp>(splat.getInput(), every, none)};
  }
  auto both = mask.getDefiningOp<arith::AndIOp>();
  if (!both)
    return {};
  Inside one = insideOf(b, both.getLhs()), other = insideOf(b, both.getRhs());
  if (!one.all || !other.all)
    return {};
  Value all = b.create<arith::AndIOp>(one.all, other.all);
  if (!one.count || !other.count || one.count.getType() != other.count.getType())
    return {all, {}};
  return {all, b.create<arith::MinSIOp>(one.count, other.count)};
}

/// The same of constant masks, and by looking at the lanes of others.
Inside insideAny(ImplicitLocOpBuilder &b, Value mask) {
  DenseElementsAttr lanes;
  if (matchPattern(mask, m_Constant(&lanes))) {
    auto bits = llvm::to_vector(lanes.getValues<bool>());
    auto end = llvm::find(bits, false);
    Value all = b.create<arith::ConstantOp>(b.getBoolAttr(end == bits.end()));
    if (llvm::is_contained(llvm::make_range(end, bits.end()), true))
      return {all, {}};
    return {all, b.create<arith::ConstantOp>(b.getI64IntegerAttr(end - bits.begin()))};
  }
  if (Inside inside = insideOf(b, mask); inside.all)
    return inside;
  return {b.create<vector::ReductionOp>(vector::CombiningKind::AND, mask), {}};
}

/// if (condition) yes() else no(), each of which may give a value.
Value choose(ImplicitLocOpBuilder &b, Value condition, TypeRange types, function_ref<Value()> yes,
             function_ref<Value()> no) {
  auto branch = b.create<scf::IfOp>(types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  for (bool taken : {true, false}) {
    b.setInsertionPointToStart(taken ? branch.thenBlock() : branch.elseBlock());
    Value value = taken ? yes() : no();
    if (!types.empty())
      b.create<scf::YieldOp>(value);
  }
  return types.empty() ? Value() : branch.getResult(0);
}

/// A load or a store of the first lanes of a vector: where, and how many are inside.
struct Piece {
  Value pointer, count;
  int64_t before = 0; ///< lanes of the vector in front of this piece
  int64_t lanes;

  Piece low() const { return {pointer, count, before, lanes / 2}; }
  Piece high() const { return {pointer, count, before + lanes / 2, lanes / 2}; }
};

/// Walks halves, quarters, … of a vector up to the number of lanes that are inside. What is loaded so far is carried along.
class Pieces {
public:
  Pieces(ImplicitLocOpBuilder &b, unsigned alignment) : b(b), alignment(alignment) {}

  /// `sofar` with the lanes inside in their places.
  Value load(Piece piece, Value sofar) {
    return walk(piece, sofar, [&](Piece whole, Value sofar) { return loadWhole(whole, sofar); });
  }
  void store(Piece piece, Value data) {
    walk(piece, {}, [&](Piece whole, Value) {
      storeWhole(whole, data);
      return Value();
    });
  }

private:
  using Move = function_ref<Value(Piece, Value)>;

  /// [pieces] Nothing is moved where no lane of the piece is inside.
  Value walk(Piece piece, Value sofar, Move move) {
    SmallVector<Type> held;
    if (sofar)
      held.push_back(sofar.getType());
    auto nothing = [&] { return sofar; };
    if (piece.lanes == 1)
      return choose(
          b, atLeast(b, piece.count, piece.before + 1), held, [&] { return move(piece, sofar); },
          nothing);
    Piece low = piece.low(), high = piece.high();
    return choose(
        b, atLeast(b, piece.count, high.before), held,
        [&] { return walk(high, move(low, sofar), move); }, [&] { return walk(low, sofar, move); });
  }

  Value addressOf(Piece piece, Type element) {
    return b.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(b.getContext()), element, piece.pointer,
                                 ArrayRef<LLVM::GEPArg>{int32_t(piece.before)});
  }

  Value loadWhole(Piece piece, Value sofar) {
    auto vector = cast<VectorType>(sofar.getType());
    Type element = vector.getElementType();
    Value address = addressOf(piece, element);
    if (piece.lanes == 1)
      return b.create<vector::InsertOp>(b.create<LLVM::LoadOp>(element, address, alignment), sofar,
                                        piece.before);
    Value part =
        b.create<LLVM::LoadOp>(VectorType::get({piece.lanes}, element), address, alignment);
    return b.create<vector::InsertStridedSliceOp>(part, sofar, ArrayRef<int64_t>{piece.before},
                                                  ArrayRef<int64_t>{1});
  }

  void storeWhole(Piece piece, Value data) {
    Value address = addressOf(piece, cast<VectorType>(data.getType()).getElementType());
    Value part;
    if (piece.lanes == 1)
      part = b.create<vector::ExtractOp>(data, piece.before);
    else
      part = b.create<vector::ExtractStridedSliceOp>(data, ArrayRef<int64_t>{piece.before},
                                                     ArrayRef<int64_t>{piece.lanes},
                                                     ArrayRef<int64_t>{1});
    b.create<LLVM::StoreOp>(part, address, alignment);
  }

  ImplicitLocOpBuilder &b;
  const unsigned alignment;
};

bool isPowerOfTwo(Value vector) { return llvm::isPowerOf2_64(lanesOf(vector)); }

void rewriteLoad(LLVM::MaskedLoadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type type = op.getRes().getType();
  if (op.getPassThru().empty() || !isPowerOfTwo(op.getRes()))
    return;
  Inside inside = insideAny(b, op.getMask());
  Value outside = op.getPassThru()[0];
  // [whole] Most are.
  auto whole = [&]() -> Value {
    return b.create<LLVM::LoadOp>(type, op.getData(), op.getAlignment());
  };
  auto part = [&]() -> Value {
    if (inside.count)
      return Pieces(b, op.getAlignment())
          .load({op.getData(), inside.count, 0, lanesOf(op.getRes())}, outside);
    return b.create<LLVM::MaskedLoadOp>(type, op.getData(), op.getMask(), outside,
                                        op.getAlignment());
  };
  op.getRes().replaceAllUsesWith(choose(b, inside.all, type, whole, part));
  op.erase();
}

void rewriteStore(LLVM::MaskedStoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (!isPowerOfTwo(op.getValue()))
    return;
  Inside inside = insideAny(b, op.getMask());
  auto whole = [&]() -> Value {
    b.create<LLVM::StoreOp>(op.getValue(), op.getData(), op.getAlignment());
    return {};
  };
  auto part = [&]() -> Value {
    if (inside.count)
      Pieces(b, op.getAlignment())
          .store({op.getData(), inside.count, 0, lanesOf(op.getValue())}, op.getValue());
    else
      b.create<LLVM::MaskedStoreOp>(op.getValue(), op.getData(), op.getMask(), op.getAlignment());
    return {};
  };
  choose(b, inside.all, TypeRange(), whole, part);
  op.erase();
}

/// [gather] Constant masks take no branches anyway.
void rewriteGather(LLVM::masked_gather op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (matchPattern(op.getMask(), m_Constant()))
    return;
  Type type = op.getRes().getType();
  auto gather = [&](Value mask) -> Value {
    return b.create<LLVM::masked_gather>(type, op.getPtrs(), mask, op.getPassThru(),
                                         op.getAlignment());
  };
  auto whole = [&]() -> Value {
    auto lanes = cast<VectorType>(op.getMask().getType());
    return gather(b.create<arith::ConstantOp>(DenseElementsAttr::get(lanes, true)));
  };
  Value all = insideAny(b, op.getMask()).all;
  op.getRes().replaceAllUsesWith(choose(b, all, type, whole, [&] { return gather(op.getMask()); }));
  op.erase();
}

} // namespace

/// Of what a load, store or gather moves; 0 for anything else.
static unsigned maskedBits(Operation *op) {
  Type type;
  if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
    type = load.getRes().getType();
  else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
    type = store.getValue().getType();
  else if (auto gather = dyn_cast<LLVM::masked_gather>(op))
    type = gather.getRes().getType();
  return type ? getElementTypeOrSelf(type).getIntOrFloatBitWidth() : 0;
}

/// Schedules of bytes ask for masks themselves, where words have some.
static bool wants(Operation *op, const VectorMachine &machine) {
  unsigned bits = maskedBits(op);
  return bits && (!machine.masksWords() || (bits == 16 && !machine.masks(bits)));
}

void preferWholeVectors(ModuleOp module, const VectorMachine &machine) {
  SmallVector<Operation *> masked;
  module.walk([&](Operation *op) {
    if (wants(op, machine))
      masked.push_back(op);
  });
  for (Operation *op : masked) {
    if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
      rewriteLoad(load);
    else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
      rewriteStore(store);
    else
      rewriteGather(cast<LLVM::masked_gather>(op));
  }
}

} // namespace weft
