//===- ElementEmitter.cpp - Loads, stores, guards and folds of generated kernels -----------------===//

#include "targets/cpu/ElementEmitter.h"
#include "dialects/weft/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

Type memoryType(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (isFloat(element) && width >= 32)
    return element;
  return IntegerType::get(element.getContext(), std::max(8u, width));
}

Value constantI64(ImplicitLocOpBuilder &b, int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }

Value elementPointer(ImplicitLocOpBuilder &b, Value base, Type type, Value index) {
  return b.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(b.getContext()), type, base, ArrayRef<LLVM::GEPArg>{index});
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
  return {emitSymExpr(b, b.getLoc(), expr, [&](StringAttr name) {
    Value value = symbols.lookup(name);
    assert(value && "every symbol of a kernel is a word");
    return value;
  })};
}

Value ElementEmitter::pull(Value tensor, ArrayRef<IndexValue> index) {
  if (auto it = providers.find(tensor); it != providers.end())
    return it->second(index);
  if (Value pointer = pointers.lookup(tensor))
    return load(pointer, cast<SymTensorType>(tensor.getType()), index);
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
  Value value = cast<ElementOpInterface>(result.getOwner()).emitElement(*this, result.getResultNumber(), index);
  current.pop_back();
  memo.back()[key] = value;
  return value;
}

Value ElementEmitter::operand(unsigned i, ArrayRef<IndexValue> index) { return pull(current.back()->getOperand(i), index); }

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

/// One memory element per lane.
Value ElementEmitter::loadLanes(Value pointer, Type memory, IndexValue at) {
  unsigned align = byteSize(memory);
  if (at.isUniform() || lanes == 1) {
    Value address = elementPointer(b, pointer, memory, at.lanes ? at.lanes : at.base);
    if (guard) { // no lane may be inside: then read somewhere harmless
      Value any = lanes == 1 ? guard : b.create<vector::ReductionOp>(vector::CombiningKind::OR, guard);
      address = b.create<LLVM::SelectOp>(any, address, safe);
    }
    return splat(b.create<LLVM::LoadOp>(memory, address, align));
  }
  Type vector = laneType(memory);
  Value mask = both(tailMask, guard);
  if (!at.lanes && at.stride == 1) {
    Value address = elementPointer(b, pointer, memory, at.base);
    if (!mask)
      return b.create<LLVM::LoadOp>(vector, address, align);
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    return b.create<LLVM::MaskedLoadOp>(vector, address, mask, zero, align);
  }
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value addresses = b.create<LLVM::GEPOp>(LLVM::LLVMFixedVectorType::get(pointerType, lanes), memory, pointer,
                                          ArrayRef<LLVM::GEPArg>{materialize(at)});
  if (!mask)
    mask = b.create<arith::ConstantOp>(DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
  Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  return b.create<LLVM::masked_gather>(vector, addresses, mask, zero, b.getI32IntegerAttr(align));
}

/// Where a 4-bit element lies in its byte: the lower half comes first.
static Value halfShift(ImplicitLocOpBuilder &b, Value position, Type bytes) {
  auto like = [&](int64_t value) -> Value {
    TypedAttr attribute = b.getI64IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(position.getType()))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return b.create<arith::ConstantOp>(attribute);
  };
  Value half = b.create<arith::AndIOp>(position, like(1));
  return b.create<arith::TruncIOp>(bytes, b.create<arith::ShLIOp>(half, like(2)));
}

Value ElementEmitter::loadHalves(Value pointer, Type element, IndexValue at) {
  Type memory = memoryType(element);
  Value position = materialize(at);
  IndexValue byte;
  auto halved = [&](Value value) -> Value {
    TypedAttr one = b.getI64IntegerAttr(1);
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      one = DenseElementsAttr::get(vector, Attribute(one));
    return b.create<arith::ShRUIOp>(value, b.create<arith::ConstantOp>(one));
  };
  if (at.isUniform() || lanes == 1)
    byte.base = halved(at.lanes ? at.lanes : at.base);
  else
    byte.lanes = halved(position);
  Value bytes = loadLanes(pointer, memory, byte);
  Value shifted = b.create<arith::ShRUIOp>(bytes, halfShift(b, position, bytes.getType()));
  return b.create<arith::TruncIOp>(laneType(computeType(element)), shifted);
}

/// Two elements share a byte, and the other one may belong to another thread: halves are written without touching it.
void ElementEmitter::storeHalves(Value pointer, IndexValue at, Value data) {
  Type i8 = b.getI8Type();
  auto byte = [&](int64_t value) -> Value { return b.create<arith::ConstantOp>(b.getIntegerAttr(i8, value)); };
  Value positions = materialize(at);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto of = [&](Value vector) -> Value { return lanes == 1 ? vector : b.create<vector::ExtractOp>(vector, int64_t(lane)); };
    Value position = of(positions), shift = halfShift(b, position, i8);
    Value set = b.create<arith::ShLIOp>(b.create<arith::ExtUIOp>(i8, of(data)), shift);
    Value keep = b.create<arith::XOrIOp>(b.create<arith::ShLIOp>(byte(15), shift), byte(-1));
    Value address = elementPointer(b, pointer, i8, b.create<arith::ShRUIOp>(position, constantI64(b, 1)));
    if (lanes > 1 && tailMask) {
      Value inside = of(tailMask);
      set = b.create<arith::SelectOp>(inside, set, byte(0));
      keep = b.create<arith::SelectOp>(inside, keep, byte(-1));
      address = b.create<LLVM::SelectOp>(inside, address, pointer);
    }
    b.create<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::_and, address, keep, LLVM::AtomicOrdering::monotonic);
    b.create<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::_or, address, set, LLVM::AtomicOrdering::monotonic);
  }
}

Value ElementEmitter::load(Value pointer, SymTensorType type, ArrayRef<IndexValue> index) {
  Type element = type.getElementType(), memory = memoryType(element);
  if (elementBits(element) == 4)
    return loadHalves(pointer, element, linear(type, index));
  Value data = loadLanes(pointer, memory, linear(type, index));
  if (element.isInteger(1))
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, data, constantData(memory, IntegerAttr::get(memory, 0)));
  Type compute = computeType(element);
  if (compute == memory)
    return data;
  return decodeFloat(b, data, element);
}

void ElementEmitter::store(Value pointer, SymTensorType type, ArrayRef<IndexValue> index, Value data) {
  Type element = type.getElementType(), memory = memoryType(element);
  if (element.isInteger(1))
    data = b.create<arith::ExtUIOp>(laneType(memory), data);
  else if (elementBits(element) == 4)
    return storeHalves(pointer, linear(type, index), data);
  else if (computeType(element) != memory)
    data = encodeFloat(b, data, element);
  IndexValue at = linear(type, index);
  // An innermost dimension of 1 has one lane inside the tail mask.
  bool single = type.getRank() > 0 && type.getDim(type.getRank() - 1).isConstant(1);
  (void)single;
  assert((lanes == 1 || (!at.lanes && (at.stride == 1 || single))) && "results are written along their innermost dimension");
  Value address = elementPointer(b, pointer, memory, at.base);
  unsigned align = byteSize(memory);
  if (lanes > 1 && tailMask)
    b.create<LLVM::MaskedStoreOp>(data, address, tailMask, align);
  else
    b.create<LLVM::StoreOp>(data, address, align);
}

Value ElementEmitter::guarded(Value condition, function_ref<Value()> body, Value otherwise) {
  Value outer = guard;
  guard = both(outer, condition);
  memo.emplace_back();
  Value value = body();
  memo.pop_back();
  guard = outer;
  return b.create<arith::SelectOp>(condition, value, otherwise);
}

Value ElementEmitter::fold(ArrayRef<SymExpr> extents, Value init, function_ref<Value(ArrayRef<IndexValue>, Value)> body) {
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
