//===- VectorMachine.cpp - What any machine can do, and what only some can -----------------------------===//

#include "targets/cpu/machine/VectorMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

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

/// The second of a pair is added first, as by the instruction that some have.
Value VectorMachine::addHalfProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  auto reals = cast<VectorType>(sum.getType());
  auto words = reals.clone(b.getI32Type());
  auto constant = [&](uint32_t value) -> Value {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(words, b.getI32IntegerAttr(int32_t(value))));
  };
  auto second = [&](Value pairs) -> Value {
    return b.create<arith::BitcastOp>(reals, b.create<arith::AndIOp>(pairs, constant(0xffff0000)));
  };
  auto first = [&](Value pairs) -> Value {
    return b.create<arith::BitcastOp>(reals, b.create<arith::ShLIOp>(pairs, constant(16)));
  };
  sum = b.create<vector::FMAOp>(second(x), second(y), sum);
  return b.create<vector::FMAOp>(first(x), first(y), sum);
}

void VectorMachine::prefetch(ImplicitLocOpBuilder &b, Value pointer, Cache cache,
                             bool isWritten) const {
  b.create<LLVM::Prefetch>(pointer, isWritten, cache == Cache::First ? 3 : 2, /*cache=*/1);
}

// Who asks for what a machine has not was to ask first.

Value VectorMachine::addByteProducts(ImplicitLocOpBuilder &, Value, Value, Value) const {
  llvm_unreachable("addsByteProducts() says so");
}
Value VectorMachine::lookUp(ImplicitLocOpBuilder &, ArrayRef<float>, Value) const {
  llvm_unreachable("looksUp() says so");
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
