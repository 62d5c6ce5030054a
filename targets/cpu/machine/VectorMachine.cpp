//===- VectorMachine.cpp - What any machine can do, and what only some can -----------------------------===//

#include "targets/cpu/machine/VectorMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

double VectorMachine::operationsOfNanosecond() const {
  if (traits.operationsOfNanosecond > 0)
    return traits.operationsOfNanosecond;
  return 3.5 * traits.lanes * (traits.hasFma ? 4 : 2);
}

Value VectorMachine::multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) const {
  return b.create<vector::FMAOp>(x, y, sum);
}

/// Truncating a vector is often two steps, and the shift before it a third.
Value VectorMachine::upperHalves(ImplicitLocOpBuilder &b, Value words) const {
  Type half = b.getI16Type();
  auto vector = dyn_cast<VectorType>(words.getType());
  if (vector && traits.permutesHalves) {
    auto halves = VectorType::get({2 * vector.getNumElements()}, half);
    SmallVector<int64_t> upper;
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
      upper.push_back(2 * lane + 1);
    Value split = b.create<LLVM::BitcastOp>(halves, words);
    return b.create<vector::ShuffleOp>(split, split, upper);
  }
  TypedAttr places = b.getI32IntegerAttr(16);
  if (vector)
    places = DenseElementsAttr::get(vector, Attribute(places));
  Value moved = b.create<arith::ShRUIOp>(words, b.create<arith::ConstantOp>(places));
  return b.create<arith::TruncIOp>(vector ? Type(vector.clone(half)) : half, moved);
}

Value VectorMachine::addPairProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  auto sums = cast<VectorType>(sum.getType());
  for (int64_t part = 0; part < 2; ++part) {
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < sums.getNumElements(); ++lane)
      lanes.push_back(2 * lane + part);
    auto wide = [&](Value pairs) -> Value {
      return b.create<arith::ExtSIOp>(sums, b.create<vector::ShuffleOp>(pairs, pairs, lanes));
    };
    sum = b.create<arith::AddIOp>(sum, b.create<arith::MulIOp>(wide(x), wide(y)));
  }
  return sum;
}

Value VectorMachine::addShorts(ImplicitLocOpBuilder &b, Value sum, Value shorts) const {
  auto ones = DenseElementsAttr::get(cast<ShapedType>(shorts.getType()), b.getI16IntegerAttr(1));
  return addPairProducts(b, sum, shorts, b.create<arith::ConstantOp>(ones));
}

void VectorMachine::prefetch(ImplicitLocOpBuilder &b, Value pointer, Cache cache,
                             bool isWritten) const {
  b.create<LLVM::Prefetch>(pointer, isWritten, cache == Cache::First ? 3 : 2, /*cache=*/1);
}

// Who asks for what a machine has not was to ask first.

void VectorMachine::storePair(ImplicitLocOpBuilder &, Value, Value, Value) const {
  llvm_unreachable("storesPairs() says so");
}
Value VectorMachine::addHalfProducts(ImplicitLocOpBuilder &, Value, Value, Value) const {
  llvm_unreachable("addsHalfProducts() says so");
}
Value VectorMachine::roundForHalfProducts(ImplicitLocOpBuilder &, Value) const {
  llvm_unreachable("addsHalfProducts() says so");
}
Value VectorMachine::addByteProducts(ImplicitLocOpBuilder &, Value, Value, Value, ByteSigns) const {
  llvm_unreachable("addsByteProducts() says so");
}
Value VectorMachine::multiplyBytePairs(ImplicitLocOpBuilder &, Value, Value) const {
  llvm_unreachable("multipliesBytePairs() says so");
}
Value VectorMachine::addByteMatrices(ImplicitLocOpBuilder &, Value, Value, Value, ByteSigns) const {
  llvm_unreachable("multipliesByteMatrices() says so");
}
Value VectorMachine::lookUp(ImplicitLocOpBuilder &, ArrayRef<float>, Value) const {
  llvm_unreachable("looksUp() says so");
}
Value VectorMachine::lookUpBytes(ImplicitLocOpBuilder &, Value, Value) const {
  llvm_unreachable("looksUpBytes() says so");
}
Value VectorMachine::scaleByPower(ImplicitLocOpBuilder &, Value, Value) const {
  llvm_unreachable("splitsFloats() says so");
}
Value VectorMachine::exponentOf(ImplicitLocOpBuilder &, Value) const {
  llvm_unreachable("splitsFloats() says so");
}
Value VectorMachine::mantissaNearOne(ImplicitLocOpBuilder &, Value) const {
  llvm_unreachable("splitsFloats() says so");
}
Value VectorMachine::estimateReciprocal(ImplicitLocOpBuilder &, Value) const {
  llvm_unreachable("splitsFloats() says so");
}

} // namespace weft
