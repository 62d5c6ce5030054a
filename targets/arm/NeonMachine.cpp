//===- NeonMachine.cpp - Instructions of NEON -----------------------------------------------------------===//

#include "targets/arm/NeonMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/arm/Intrinsics.h"

using namespace mlir;

namespace weft {
namespace {

/// Every second of eight numbers, from `first` on.
Value everySecond(ImplicitLocOpBuilder &b, Value numbers, int64_t first) {
  return b.create<vector::ShuffleOp>(numbers, numbers,
                                     SmallVector<int64_t>{first, first + 2, first + 4, first + 6});
}

/// The same of pairs. Where all are one of a vector's, that vector's lane: multiplications take it as it is.
Value numberOfPairs(ImplicitLocOpBuilder &b, Value pairs, int64_t number) {
  auto words = pairs.getDefiningOp<LLVM::BitcastOp>();
  vector::ShuffleOp spread = words ? spreadLane(words.getArg()) : nullptr;
  if (!spread)
    return everySecond(b, pairs, number);
  Value numbers = b.create<LLVM::BitcastOp>(pairs.getType(), spread.getV1());
  return b.create<vector::ShuffleOp>(numbers, numbers,
                                     SmallVector<int64_t>(4, 2 * laneOf(spread) + number));
}

} // namespace

NeonMachine::NeonMachine(Extensions has)
    : VectorMachine({4, 32, true, true, {8, {8, 6, 4}}, {12, {12, 8, 6}}, /*laneRun=*/4}),
      has(has) {}

bool NeonMachine::addsByteProducts(ByteSigns signs) const {
  return signs.isLeftSigned == signs.isRightSigned ? has.dots : has.mixedDots;
}

Value NeonMachine::addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value left, Value right,
                                   ByteSigns signs) const {
  auto bytes = [&](Value words) -> Value {
    return b.create<LLVM::BitcastOp>(VectorType::get({16}, b.getI8Type()), words);
  };
  bool isMixed = signs.isLeftSigned != signs.isRightSigned;
  if (isMixed ? signs.isLeftSigned : bool(spreadLane(left)))
    std::swap(left, right); // unsigned ones come first, and what may be a lane is last
  const char *name = isMixed ? "usdot" : signs.isLeftSigned ? "sdot" : "udot";
  return callArm(b, sum.getType(), llvm::Twine("neon.") + name + ".v4i32.v16i8",
                 {sum, bytes(left), bytes(right)});
}

Value NeonMachine::addPairProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  for (int64_t number : {0, 1}) {
    Value product = callArm(b, sum.getType(), "neon.smull.v4i32",
                            {everySecond(b, y, number), numberOfPairs(b, x, number)});
    sum = b.create<arith::AddIOp>(sum, product);
  }
  return sum;
}

} // namespace weft
