//===- ArmMachine.cpp - Vectors and intrinsics of 64-bit ARM --------------------------------------------===//
//
// Vectors of 128 bits. Loads and stores take no mask.
//===------------------------------------------------------------------------------------------===//

#include "targets/arm/ArmMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
namespace {

Value call(ImplicitLocOpBuilder &b, Type type, const llvm::Twine &name, ValueRange operands) {
  return b
      .create<LLVM::CallIntrinsicOp>(type, b.getStringAttr("llvm.aarch64.neon." + name), operands)
      .getResult(0);
}

/// Every second of eight numbers, from `first` on.
Value everySecond(ImplicitLocOpBuilder &b, Value numbers, int64_t first) {
  return b.create<vector::ShuffleOp>(numbers, numbers,
                                     SmallVector<int64_t>{first, first + 2, first + 4, first + 6});
}

/// What is a lane of a vector in all lanes, or nothing.
vector::ShuffleOp spreadLane(Value all) {
  auto spread = all.getDefiningOp<vector::ShuffleOp>();
  return spread && llvm::all_equal(spread.getMask()) ? spread : vector::ShuffleOp();
}

/// The same of pairs. Where all are one of a vector's, that vector's lane: multiplications take it as it is.
Value numberOfPairs(ImplicitLocOpBuilder &b, Value pairs, int64_t number) {
  auto words = pairs.getDefiningOp<LLVM::BitcastOp>();
  vector::ShuffleOp spread = words ? spreadLane(words.getArg()) : nullptr;
  if (!spread)
    return everySecond(b, pairs, number);
  int64_t pair = cast<IntegerAttr>(spread.getMask()[0]).getInt();
  Value numbers = b.create<LLVM::BitcastOp>(pairs.getType(), spread.getV1());
  return b.create<vector::ShuffleOp>(numbers, numbers, SmallVector<int64_t>(4, 2 * pair + number));
}

class NeonMachine : public VectorMachine {
public:
  /// What NEON was extended by: products of bytes of equal signs, and of unsigned by signed ones.
  struct Extensions {
    bool dots = false, mixedDots = false;
  };
  NeonMachine(Traits traits, Extensions has) : VectorMachine(std::move(traits)), has(has) {}

  bool addsByteProducts(ByteSigns signs) const override {
    return signs.isLeftSigned == signs.isRightSigned ? has.dots : has.mixedDots;
  }
  Value addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value left, Value right,
                        ByteSigns signs) const override {
    auto bytes = [&](Value words) -> Value {
      return b.create<LLVM::BitcastOp>(VectorType::get({16}, b.getI8Type()), words);
    };
    bool isMixed = signs.isLeftSigned != signs.isRightSigned;
    if (isMixed ? signs.isLeftSigned : bool(spreadLane(left)))
      std::swap(left, right); // unsigned ones come first, and what may be a lane is last
    const char *name = isMixed ? "usdot" : signs.isLeftSigned ? "sdot" : "udot";
    return call(b, sum.getType(), llvm::Twine(name) + ".v4i32.v16i8",
                {sum, bytes(left), bytes(right)});
  }

  Value addPairProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const override {
    for (int64_t number : {0, 1}) {
      Value product = call(b, sum.getType(), "smull.v4i32",
                           {everySecond(b, y, number), numberOfPairs(b, x, number)});
      sum = b.create<arith::AddIOp>(sum, product);
    }
    return sum;
  }

  /// Nothing: cores bring lines that are read in order by themselves, and each wish for one is an instruction or two in loops that have
  /// three for every four multiply-adds.
  void prefetch(ImplicitLocOpBuilder &, Value, Cache, bool) const override {}

private:
  const Extensions has;
};

} // namespace

const VectorMachine &armMachine(llvm::StringRef level) {
  const TileRows products{8, {8, 6, 4}}, filters{12, {12, 8, 6}};
  const VectorMachine::Traits neon{4, 32, true, true, products, filters, /*byLane=*/true};
  static const NeonMachine v8(neon, {}), dots(neon, {true}), mixedDots(neon, {true, true});
  return level == "v8" ? v8 : level == "v8.2" ? dots : mixedDots;
}

} // namespace weft
