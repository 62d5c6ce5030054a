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

class NeonMachine : public VectorMachine {
public:
  explicit NeonMachine(Traits traits) : VectorMachine(std::move(traits)) {}

  /// Products of the lower and the upper half, then sums of neighbours.
  Value addPairProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const override {
    auto half = [&](Value words, int64_t first) -> Value {
      return b.create<vector::ShuffleOp>(
          words, words, SmallVector<int64_t>{first, first + 1, first + 2, first + 3});
    };
    auto products = [&](int64_t first) {
      return call(b, sum.getType(), "smull.v4i32", {half(x, first), half(y, first)});
    };
    Value pairs = call(b, sum.getType(), "addp.v4i32", {products(0), products(4)});
    return b.create<arith::AddIOp>(sum, pairs);
  }

  /// Nothing: cores bring lines that are read in order by themselves, and each wish for one is an instruction or two in loops that have
  /// three for every four multiply-adds.
  void prefetch(ImplicitLocOpBuilder &, Value, Cache, bool) const override {}
};

} // namespace

const VectorMachine &armMachine(llvm::StringRef) {
  const TileRows products{8, {8, 6, 4}}, filters{12, {12, 8, 6}};
  static const NeonMachine v8({4, 32, true, true, products, filters, /*byLane=*/true});
  return v8;
}

} // namespace weft
