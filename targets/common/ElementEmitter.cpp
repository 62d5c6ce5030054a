//===- ElementEmitter.cpp - Loads, stores, guards and folds of generated kernels --------------===//
//
//   element of a value at an index: what a schedule provides; else loaded;  [pull]
//     else what its operator's code gives, once in each scope
//   look up: all bytes at once where the machine does, else one by one      [look up]
//   place in memory = row-major sum over the dimensions                     [place]
//   load: one element in all lanes; a vector, masked by tail and guard;     [lanes]
//       bytes two apart, by loads of twice as many                          [every second]
//       or a gather, masked by the same
//       where machines have no masks: lane by lane, in branches             [one by one]
//     elements that share a byte: the byte, shifted                         [packed]
//       neighbours that begin with a byte, and bytes, for threads:          [run]
//       all at once
//   store: a vector, masked by the tail; shared bytes one by one            [store]
//   guarded: the body with its loads switched off outside, then a choice    [guard]
//   fold: for extents, the last innermost: carried = body(position)         [fold]
//===------------------------------------------------------------------------------------------===//

#include "targets/common/ElementEmitter.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/IndexFacts.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace weft {

Type memoryType(Type element) {
  unsigned width = elementBits(element);
  if (isFloat(element) && width >= 32)
    return element;
  return IntegerType::get(element.getContext(), std::max(8u, width));
}

Value constantI64(ImplicitLocOpBuilder &b, int64_t value) {
  return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
}

Value elementPointer(ImplicitLocOpBuilder &b, Value base, Type type, Value index) {
  return b.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(b.getContext()), type, base,
                               ArrayRef<LLVM::GEPArg>{index});
}

static unsigned byteSize(Type type) { return std::max(1u, type.getIntOrFloatBitWidth() / 8); }

void ElementEmitter::setLanes(unsigned count) {
  lanes = count;
  tailMask = guard = Value();
  forget();
}

void ElementEmitter::forget() {
  assert(memo.size() == 1 && "inside a loop or guard");
  memo.back().clear();
}

Value ElementEmitter::both(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return b.create<arith::AndIOp>(a, c);
}

IndexValue ElementEmitter::symbolic(SymExpr expr) {
  if (auto value = expr.asConstant())
    return constant(*value);
  if (Value known = sizes.lookup(expr))
    return {known};
  return {emitSymExpr(b, b.getLoc(), expr, [&](StringAttr name) {
    Value value = symbols.lookup(name);
    assert(value && "every symbol of a kernel is a word");
    return value;
  })};
}

/// [pull] What was computed in an outer loop or guard is still there.
Value ElementEmitter::pull(Value tensor, ArrayRef<IndexValue> index) {
  if (auto it = providers.find(tensor); it != providers.end())
    return it->second(index);
  if (Value pointer = pointers.lookup(tensor)) {
    llvm::SaveAndRestore<bool> scope(isInvariant, invariant.contains(tensor));
    return load(pointer, cast<SymTensorType>(tensor.getType()), index);
  }
  Key key{{tensor.getAsOpaquePointer(), 0}};
  for (const IndexValue &i : index) {
    key.push_back({i.base.getAsOpaquePointer(), i.stride});
    key.push_back({i.lanes.getAsOpaquePointer(), 0});
  }
  for (auto &scope : memo)
    if (auto it = scope.find(key); it != scope.end())
      return it->second;
  auto result = cast<OpResult>(tensor);
  current.push_back(result.getOwner());
  Value value = cast<ElementOpInterface>(result.getOwner())
                    .emitElement(*this, result.getResultNumber(), index);
  current.pop_back();
  memo.back()[key] = value;
  return value;
}

Value ElementEmitter::operand(unsigned i, ArrayRef<IndexValue> index) {
  return pull(current.back()->getOperand(i), index);
}

/// [look up] No byte names a place outside, so no lane is switched off.
Value ElementEmitter::lookUp(unsigned i, Value bytes) {
  Value table = current.back()->getOperand(i), pointer = pointers.lookup(table);
  auto widened = [&](Value byte, Type type) -> Value {
    auto vector = dyn_cast<VectorType>(byte.getType());
    return b.create<arith::ExtUIOp>(vector ? Type(vector.clone(type)) : type, byte);
  };
  if (!pointer)
    return pull(table, {toIndex(widened(bytes, b.getI32Type()))});
  auto load = [&](Value byte) -> Value {
    Value address = elementPointer(b, pointer, b.getI8Type(), widened(byte, b.getI64Type()));
    auto element = b.create<LLVM::LoadOp>(b.getI8Type(), address, 1);
    element.setInvariant(invariant.contains(table));
    return element;
  };
  auto vector = dyn_cast<VectorType>(bytes.getType());
  if (!vector)
    return load(bytes);
  if (byteTables)
    return byteTables(pointer, bytes);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
    elements.push_back(load(b.create<vector::ExtractOp>(bytes, lane)));
  return b.create<vector::FromElementsOp>(vector, elements);
}

/// [place] Dimensions of 1 are left out: strides stay known.
IndexValue ElementEmitter::linear(SymTensorType type, ArrayRef<IndexValue> index) {
  IndexValue at = constant(0);
  bool first = true;
  for (auto [d, i] : llvm::enumerate(index)) {
    if (type.getDim(d).isConstant(1))
      continue;
    at = first ? i : add(mul(at, symbolic(type.getDim(d))), i);
    first = false;
  }
  return at;
}

/// [every second] Bytes two apart: processors gather no bytes. Those between are not read.
Value ElementEmitter::loadEverySecondByte(Value address, Value mask) {
  auto pairs = VectorType::get({lanes}, b.getI16Type()),
       bytes = VectorType::get({2 * lanes}, b.getI8Type());
  auto filled = [&](VectorType type, int64_t value) -> Value {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(type.getElementType(), value))));
  };
  Value low = filled(pairs, 255);
  if (mask)
    low = b.create<arith::SelectOp>(mask, low, filled(pairs, 0));
  Value wanted = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                         b.create<LLVM::BitcastOp>(bytes, low), filled(bytes, 0));
  Value loaded = b.create<LLVM::MaskedLoadOp>(bytes, address, wanted, filled(bytes, 0), 1);
  return b.create<arith::TruncIOp>(laneType(b.getI8Type()),
                                   b.create<LLVM::BitcastOp>(pairs, loaded));
}

/// Of the lanes' elements from an index on, in bytes.
unsigned ElementEmitter::alignmentOf(Type memory, IndexValue at) const {
  int64_t size = byteSize(memory);
  if (!pointerAlignment)
    return unsigned(size);
  return unsigned(std::min<int64_t>(pointerAlignment, divisorOf(at.base) * size));
}

/// [one by one] Lanes whose guard does not hold have zeros.
Value ElementEmitter::loadOneByOne(Value pointer, Type memory, IndexValue at) {
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(memory));
  auto loadIf = [&](Value condition, Value place) -> Value {
    auto body = [&]() -> Value {
      auto load = b.create<LLVM::LoadOp>(memory, elementPointer(b, pointer, memory, place),
                                         byteSize(memory));
      load.setInvariant(isInvariant);
      return load;
    };
    return condition ? branched(condition, body, zero) : body();
  };
  if (at.isUniform())
    return splat(loadIf(b.create<vector::ReductionOp>(vector::CombiningKind::OR, guard), at.base));
  SmallVector<Value> elements;
  for (int64_t l = 0; l < int64_t(lanes); ++l) {
    Value inside = guard ? b.createOrFold<vector::ExtractOp>(guard, l) : Value();
    Value place = at.lanes ? b.createOrFold<vector::ExtractOp>(at.lanes, l)
                           : add({at.base}, constant(l * at.stride)).base;
    elements.push_back(loadIf(inside, place));
  }
  // Joined behind all branches: between them, parts of a vector would be registers that nothing was written to.
  return b.create<vector::FromElementsOp>(cast<VectorType>(laneType(memory)), elements);
}

/// [lanes] One memory element per lane.
Value ElementEmitter::loadLanes(Value pointer, Type memory, IndexValue at) {
  bool isOne = at.isUniform() || lanes == 1, isRun = !at.lanes && at.stride == 1;
  if (guardsBranch && lanes > 1 && (guard || (!isOne && !isRun)))
    return loadOneByOne(pointer, memory, at);
  unsigned align = byteSize(memory);
  // No lane may be inside: then read somewhere harmless. Masked loads would not fail either, but
  // processors take hundreds of cycles for one whose address is not mapped.
  auto guardedAddress = [&](Value index) -> Value {
    Value address = elementPointer(b, pointer, memory, index);
    if (!guard)
      return address;
    Value any =
        lanes == 1 ? guard : b.create<vector::ReductionOp>(vector::CombiningKind::OR, guard);
    return b.create<LLVM::SelectOp>(any, address, safe);
  };
  auto loadWhole = [&](Type type, Value address) -> Value {
    auto load = b.create<LLVM::LoadOp>(type, address, align);
    load.setInvariant(isInvariant && !guard);
    return load;
  };
  if (isOne)
    return splat(loadWhole(memory, guardedAddress(at.lanes ? at.lanes : at.base)));
  Type vector = laneType(memory);
  Value mask = both(tailMask, guard);
  if (isRun && guardsBranch && !mask && memory.isInteger(8))
    return loadPackedRun(pointer, 8, at.base);
  if (isRun) {
    align = alignmentOf(memory, at);
    Value address = guardedAddress(at.base);
    if (!mask)
      return loadWhole(vector, address);
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    return b.create<LLVM::MaskedLoadOp>(vector, address, mask, zero, align);
  }
  if (!at.lanes && at.stride == 2 && memory.isInteger(8))
    return loadEverySecondByte(elementPointer(b, pointer, memory, at.base), mask);
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value addresses = b.create<LLVM::GEPOp>(LLVM::LLVMFixedVectorType::get(pointerType, lanes),
                                          memory, pointer, ArrayRef<LLVM::GEPArg>{materialize(at)});
  if (!mask)
    mask = b.create<arith::ConstantOp>(
        DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  return b.create<LLVM::masked_gather>(vector, addresses, mask, zero, b.getI32IntegerAttr(align));
}

/// [packed] The bits of elements that share a byte, the first in the lowest ones.
Value ElementEmitter::loadPacked(Value pointer, unsigned width, IndexValue at) {
  bool isRun = !at.lanes && at.stride == 1 && lanes > 1 && lanes * width % 8 == 0;
  if (guardsBranch && isRun && !guard && divisorOf(at.base) % (8 / width) == 0)
    return loadPackedRun(pointer, width, at.base);
  Value position = at.isUniform() ? (at.lanes ? at.lanes : at.base) : materialize(at);
  auto shaped = [&](int64_t value) -> Value {
    TypedAttr attribute = b.getI64IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(position.getType()))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return b.create<arith::ConstantOp>(attribute);
  };
  int64_t perByte = 8 / width;
  Value byte = b.create<arith::ShRUIOp>(position, shaped(llvm::Log2_64(perByte)));
  bool one = !isa<VectorType>(position.getType());
  Value data = loadLanes(pointer, b.getI8Type(), one ? IndexValue{byte} : IndexValue{{}, 0, byte});
  Value place = b.create<arith::AndIOp>(position, shaped(perByte - 1));
  Value shift = b.create<arith::ShLIOp>(place, shaped(llvm::Log2_64(width)));
  Type bytes = one ? Type(b.getI8Type()) : laneType(b.getI8Type());
  shift = b.create<arith::TruncIOp>(bytes, shift);
  if (one && lanes > 1)
    shift = splat(shift);
  Value shifted = b.create<arith::ShRUIOp>(data, shift);
  return b.create<arith::TruncIOp>(laneType(b.getIntegerType(width)), shifted);
}

/// [run] As one integer, or several of 32 bits, whose lowest bits are the first elements. Larger ones LLVM would load in parts.
Value ElementEmitter::loadPackedRun(Value pointer, unsigned width, Value first) {
  constexpr unsigned most = 32;
  int64_t perByte = 8 / width;
  unsigned bits = std::min(lanes * width, most), count = lanes * width / bits;
  Type part = b.getIntegerType(bits), element = b.getIntegerType(width);
  Type word = count > 1 ? Type(VectorType::get({count}, part)) : part;
  Value byte = b.create<arith::ShRUIOp>(first, constantI64(b, int64_t(llvm::Log2_64(perByte))));
  int64_t aligned = std::min<int64_t>(pointerAlignment, divisorOf(first) / perByte);
  auto load = b.create<LLVM::LoadOp>(word, elementPointer(b, pointer, b.getI8Type(), byte),
                                     unsigned(std::clamp<int64_t>(aligned, 1, lanes * width / 8)));
  load.setInvariant(isInvariant);
  SmallVector<Value> elements;
  for (unsigned i = 0; i < lanes; ++i) {
    Value own = load.getResult();
    if (count > 1)
      own = b.create<vector::ExtractOp>(own, int64_t(i * width / bits));
    Value shift = b.create<arith::ConstantOp>(b.getIntegerAttr(part, i * width % bits));
    elements.push_back(b.create<arith::TruncIOp>(element, b.create<arith::ShRUIOp>(own, shift)));
  }
  return b.create<vector::FromElementsOp>(VectorType::get({lanes}, element), elements);
}

/// [run] Bytes as one integer, whose lowest bits are the first.
Value ElementEmitter::wordOf(Value bytes) {
  Type type = b.getIntegerType(lanes * 8);
  Value word;
  for (unsigned i = 0; i < lanes; ++i) {
    Value wide = b.create<arith::ExtUIOp>(type, b.create<vector::ExtractOp>(bytes, int64_t(i)));
    Value shift = b.create<arith::ConstantOp>(b.getIntegerAttr(type, i * 8));
    Value placed = b.create<arith::ShLIOp>(wide, shift);
    word = word ? Value(b.create<arith::OrIOp>(word, placed)) : placed;
  }
  return word;
}

/// Joins the elements of the byte that were written before.
void ElementEmitter::storePacked(Value pointer, IndexValue at, Value data) {
  assert(lanes == 1 && "parts of a byte are written one after the other");
  int64_t width = data.getType().getIntOrFloatBitWidth(), perByte = 8 / width;
  Value byte = b.create<arith::ShRUIOp>(at.base, constantI64(b, int64_t(llvm::Log2_64(perByte))));
  Value address = elementPointer(b, pointer, b.getI8Type(), byte);
  Value place = b.create<arith::AndIOp>(at.base, constantI64(b, perByte - 1));
  Value shift = b.create<arith::TruncIOp>(b.getI8Type(),
                                          b.create<arith::MulIOp>(place, constantI64(b, width)));
  Value one = b.create<arith::ConstantOp>(b.getI8IntegerAttr(1));
  Value before = b.create<arith::SubIOp>(b.create<arith::ShLIOp>(one, shift), one);
  Value kept = b.create<arith::AndIOp>(b.create<LLVM::LoadOp>(b.getI8Type(), address, 1), before);
  Value wide = b.create<arith::ExtUIOp>(b.getI8Type(), data);
  Value joined = b.create<arith::OrIOp>(kept, b.create<arith::ShLIOp>(wide, shift));
  b.create<LLVM::StoreOp>(joined, address, 1);
}

Value ElementEmitter::load(Value pointer, SymTensorType type, ArrayRef<IndexValue> index) {
  Type element = type.getElementType(), memory = memoryType(element);
  IndexValue at = linear(type, index);
  Value data = isPacked(element) ? loadPacked(pointer, elementBits(element), at)
                                 : loadLanes(pointer, memory, at);
  if (element.isInteger(1))
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, data,
                                   constantData(memory, IntegerAttr::get(memory, 0)));
  return floatFormatOf(element) ? decodeFloat(b, element, data) : data;
}

Value ElementEmitter::loadConstant(Value pointer, SymTensorType type, ArrayRef<IndexValue> index) {
  llvm::SaveAndRestore<bool> scope(isInvariant, true);
  return load(pointer, type, index);
}

Value ElementEmitter::encoded(Type element, Value data) {
  if (element.isInteger(1))
    return b.create<arith::ExtUIOp>(laneType(memoryType(element)), data);
  return floatFormatOf(element) ? encodeFloat(b, element, data) : data;
}

/// [store] Guards are for loads: results are written in all lanes of the tail.
void ElementEmitter::store(Value pointer, SymTensorType type, ArrayRef<IndexValue> index,
                           Value data) {
  Type element = type.getElementType(), memory = memoryType(element);
  data = encoded(element, data);
  if (isPacked(element))
    return storePacked(pointer, linear(type, index), data);
  IndexValue at = linear(type, index);
  // An innermost dimension of 1 has one lane inside the tail mask.
  bool single = type.getRank() > 0 && type.getDim(type.getRank() - 1).isConstant(1);
  (void)single;
  assert((lanes == 1 || (!at.lanes && (at.stride == 1 || single))) &&
         "results are written along their innermost dimension");
  Value address = elementPointer(b, pointer, memory, at.base);
  unsigned align = lanes > 1 ? alignmentOf(memory, at) : byteSize(memory);
  if (guardsBranch && lanes > 1 && memory.isInteger(8))
    data = wordOf(data);
  if (lanes > 1 && tailMask)
    b.create<LLVM::MaskedStoreOp>(data, address, tailMask, align);
  else
    b.create<LLVM::StoreOp>(data, address, align);
}

/// What the body pulls is forgotten behind it.
Value ElementEmitter::branched(Value condition, function_ref<Value()> body, Value otherwise) {
  auto branch = b.create<scf::IfOp>(otherwise.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.thenBlock());
  memo.emplace_back();
  Value value = body();
  memo.pop_back();
  b.create<scf::YieldOp>(value);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(otherwise);
  return branch.getResult(0);
}

/// [guard] No branch where lanes differ.
Value ElementEmitter::guarded(Value condition, function_ref<Value()> body, Value otherwise) {
  // Without alignment neighbours are loaded one by one in any case, and LLVM would make one of the versions with and without.
  if (guardsBranch || branchesWhereSame)
    if (Value same = sameInAllLanes(b, condition, branchesWhereSame || pointerAlignment != 0))
      return branched(same, body, otherwise);
  Value outer = guard;
  guard = both(outer, condition);
  memo.emplace_back();
  Value value = body();
  memo.pop_back();
  guard = outer;
  return b.create<arith::SelectOp>(condition, value, otherwise);
}

/// [fold] What the body pulls is forgotten behind it.
Value ElementEmitter::fold(ArrayRef<SymExpr> extents, Value init,
                           function_ref<Value(ArrayRef<IndexValue>, Value)> body) {
  SmallVector<scf::ForOp> loops;
  SmallVector<IndexValue> position;
  Value sum = init, zero = constantI64(b, 0), one = constantI64(b, 1);
  SmallVector<Value> limits;
  for (SymExpr extent : extents)
    limits.push_back(uniform(extent));
  OpBuilder::InsertionGuard insertion(b);
  for (Value limit : limits) {
    auto loop = b.create<scf::ForOp>(zero, limit, one, ValueRange{sum});
    if (!loops.empty())
      b.create<scf::YieldOp>(loop.getResults());
    loops.push_back(loop);
    position.push_back({loop.getInductionVar()});
    sum = loop.getRegionIterArgs()[0];
    b.setInsertionPointToStart(loop.getBody());
  }
  memo.emplace_back();
  Value result = body(position, sum);
  memo.pop_back();
  b.create<scf::YieldOp>(result);
  return loops.front().getResult(0);
}

} // namespace weft
