//===- NeonMachine.cpp - Instructions of NEON -----------------------------------------------------------===//

#include "targets/arm/NeonMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/arm/Intrinsics.h"

using namespace mlir;

namespace weft {
namespace {

VectorType halves(ImplicitLocOpBuilder &b) { return VectorType::get({8}, b.getBF16Type()); }

Value bytesOf(ImplicitLocOpBuilder &b, Value words) {
  return b.create<LLVM::BitcastOp>(VectorType::get({16}, b.getI8Type()), words);
}

/// Pairs of bf16. Where all are one of a vector's, that vector's as a lane of words: multiplications take it as it is.
Value pairsOf(ImplicitLocOpBuilder &b, Value words) {
  if (vector::ShuffleOp spread = spreadLane(words)) {
    Value reals = b.create<LLVM::BitcastOp>(VectorType::get({4}, b.getF32Type()), spread.getV1());
    words = b.create<vector::ShuffleOp>(reals, reals, SmallVector<int64_t>(4, laneOf(spread)));
  }
  return b.create<LLVM::BitcastOp>(halves(b), words);
}

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

static VectorMachine::Traits traitsOf(bool isInOrder) {
  VectorMachine::Traits traits{4,
                               32,
                               true,
                               true,
                               {8, {8, 7, 6, 4}, /*byThree=*/7},
                               {12, {12, 8, 6}},
                               /*laneRun=*/4,
                               /*keepsNan=*/true,
                               /*clearsForNothing=*/false};
  traits.pairInstructions = 2;
  traits.loadsBetween = isInOrder;
  traits.storesPairs = !isInOrder;
  // What counts and branches takes the place of a product where nothing overtakes: one in two hundred is left of it.
  traits.turnDepth = isInOrder ? 32 : 4;
  return traits;
}

NeonMachine::NeonMachine(Extensions has, bool isInOrder)
    : VectorMachine(traitsOf(isInOrder)), has(has) {}

bool NeonMachine::addsByteProducts(ByteSigns signs) const {
  return signs.isLeftSigned == signs.isRightSigned ? has.dots : has.mixedDots;
}

Value NeonMachine::addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value left, Value right,
                                   ByteSigns signs) const {
  bool isMixed = signs.isLeftSigned != signs.isRightSigned;
  if (isMixed ? signs.isLeftSigned : bool(spreadLane(left)))
    std::swap(left, right); // unsigned ones come first, and what may be a lane is last
  const char *name = isMixed ? "usdot" : signs.isLeftSigned ? "sdot" : "udot";
  return callArm(b, sum.getType(), llvm::Twine("neon.") + name + ".v4i32.v16i8",
                 {sum, bytesOf(b, left), bytesOf(b, right)});
}

Value NeonMachine::addPairProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  for (int64_t number : {0, 1}) {
    Value product = callArm(b, sum.getType(), "neon.smull.v4i32",
                            {everySecond(b, y, number), numberOfPairs(b, x, number)});
    sum = b.create<arith::AddIOp>(sum, product);
  }
  return sum;
}

bool NeonMachine::multipliesByteMatrices(ByteSigns signs) const {
  return has.matrices && byteMatricesOf(signs);
}

Value NeonMachine::addByteMatrices(ImplicitLocOpBuilder &b, Value sum, Value rows, Value columns,
                                   ByteSigns signs) const {
  return callArm(b, sum.getType(), llvm::Twine("neon.") + byteMatricesOf(signs) + ".v4i32.v16i8",
                 {sum, bytesOf(b, rows), bytesOf(b, columns)});
}

/// LLVM joins stores whose distance to what they are addressed by is below 1 KiB. It is not to know that there is one: an assembly without
/// text gives the pointer.
void NeonMachine::storePair(ImplicitLocOpBuilder &b, Value first, Value second,
                            Value pointer) const {
  auto opaque = b.create<LLVM::InlineAsmOp>(
      TypeRange(pointer.getType()), pointer, "", "=r,0", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  Value here = opaque.getRes(), behind = b.create<LLVM::GEPOp>(here.getType(), first.getType(),
                                                               here, ArrayRef<LLVM::GEPArg>{1});
  b.create<LLVM::StoreOp>(first, here, 4);
  b.create<LLVM::StoreOp>(second, behind, 4);
}

Value NeonMachine::addHalfProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const {
  return callArm(b, sum.getType(), "neon.bfdot.v4f32.v8bf16", {sum, pairsOf(b, y), pairsOf(b, x)});
}

Value NeonMachine::roundForHalfProducts(ImplicitLocOpBuilder &b, Value reals) const {
  Value rounded = callArm(b, halves(b), "neon.bfcvtn", reals); // in the first four
  Value bits = b.create<LLVM::BitcastOp>(VectorType::get({8}, b.getI16Type()), rounded);
  return b.create<vector::ShuffleOp>(bits, bits, SmallVector<int64_t>{0, 1, 2, 3});
}

} // namespace weft
