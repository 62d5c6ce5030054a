//===- PlainFamily.cpp - What special instructions compute, in plain vector code ------------------===//

#include "test/targets/plain/PlainFamily.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/CpuTarget.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/x86/X86Machine.h"
#include "test/targets/plain/PlainTiles.h"

using namespace mlir;

namespace weft::test {
namespace {

class PlainMachine : public VectorMachine {
public:
  explicit PlainMachine(const VectorMachine &like)
      : VectorMachine({like.lanes(), like.registers(), like.hasFma(), like.hasHalves(),
                       like.productRows(), like.filterRows()}),
        like(like) {}

  bool masks(unsigned bits) const override { return like.masks(bits); }

  bool addsHalfProducts() const override { return like.addsHalfProducts(); }
  /// The second of a pair is added first.
  Value addHalfProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const override {
    auto reals = cast<VectorType>(sum.getType());
    auto second = [&](Value pairs) -> Value {
      return b.create<arith::BitcastOp>(
          reals, b.create<arith::AndIOp>(pairs, words(b, int32_t(0xffff0000))));
    };
    auto first = [&](Value pairs) -> Value {
      return b.create<arith::BitcastOp>(reals, b.create<arith::ShLIOp>(pairs, words(b, 16)));
    };
    sum = b.create<vector::FMAOp>(second(x), second(y), sum);
    return b.create<vector::FMAOp>(first(x), first(y), sum);
  }

  Value roundForHalfProducts(ImplicitLocOpBuilder &b, Value reals) const override {
    auto shape = cast<VectorType>(reals.getType());
    Value rounded = b.create<arith::TruncFOp>(shape.clone(b.getBF16Type()), reals);
    return b.create<arith::BitcastOp>(shape.clone(b.getI16Type()), rounded);
  }
  const TileUnit *tiles() const override { return like.tiles() ? &plainTiles() : nullptr; }

  bool addsByteProducts(ByteSigns signs) const override { return like.addsByteProducts(signs); }
  Value addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value unsignedBytes, Value signedBytes,
                        ByteSigns) const override {
    for (int part = 0; part < 4; ++part) {
      Value x = b.create<arith::AndIOp>(b.create<arith::ShRUIOp>(unsignedBytes, words(b, 8 * part)),
                                        words(b, 255));
      Value y = b.create<arith::ShRSIOp>(
          b.create<arith::ShLIOp>(signedBytes, words(b, 24 - 8 * part)), words(b, 24));
      sum = b.create<arith::AddIOp>(sum, b.create<arith::MulIOp>(x, y));
    }
    return sum;
  }

  bool multipliesBytePairs() const override { return like.multipliesBytePairs(); }
  Value multiplyBytePairs(ImplicitLocOpBuilder &b, Value unsignedBytes,
                          Value signedBytes) const override {
    auto wide = VectorType::get({2 * lanes()}, b.getI32Type());
    auto limit = [&](int64_t value) -> Value {
      return b.create<arith::ConstantOp>(
          DenseElementsAttr::get(wide, b.getI32IntegerAttr(int32_t(value))));
    };
    Value sum = limit(0);
    for (int64_t part : {0, 1}) {
      Value x = b.create<arith::ExtUIOp>(wide, everyOtherByte(b, unsignedBytes, part));
      Value y = b.create<arith::ExtSIOp>(wide, everyOtherByte(b, signedBytes, part));
      sum = b.create<arith::AddIOp>(sum, b.create<arith::MulIOp>(x, y));
    }
    sum = b.create<arith::MinSIOp>(sum, limit(INT16_MAX));
    sum = b.create<arith::MaxSIOp>(sum, limit(INT16_MIN));
    return b.create<arith::TruncIOp>(wide.clone(b.getI16Type()), sum);
  }

private:
  Value everyOtherByte(ImplicitLocOpBuilder &b, Value words, int64_t first) const {
    Value bytes = b.create<LLVM::BitcastOp>(VectorType::get({4 * lanes()}, b.getI8Type()), words);
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < 2 * int64_t(lanes()); ++i)
      places.push_back(2 * i + first);
    return b.create<vector::ShuffleOp>(bytes, bytes, places);
  }
  Value words(ImplicitLocOpBuilder &b, int32_t value) const {
    auto type = VectorType::get({lanes()}, b.getI32Type());
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
  }

  const VectorMachine &like;
};

constexpr int64_t kProcessorBits = 256;

/// A masked load as two of half as many lanes.
void halve(LLVM::MaskedLoadOp load, SmallVectorImpl<LLVM::MaskedLoadOp> &halves) {
  ImplicitLocOpBuilder b(load.getLoc(), load);
  auto type = cast<VectorType>(load.getType());
  int64_t lanes = type.getNumElements() / 2;
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
  auto part = [&](Value vector, int64_t half) -> Value {
    return b.create<vector::ShuffleOp>(vector, vector, ArrayRef(all).slice(half * lanes, lanes));
  };
  for (int64_t half : {0, 1}) {
    Value at = b.create<LLVM::GEPOp>(load.getData().getType(), type.getElementType(),
                                     load.getData(), ArrayRef<LLVM::GEPArg>{int32_t(half * lanes)});
    halves.push_back(b.create<LLVM::MaskedLoadOp>(
        type.cloneWith(ArrayRef(lanes), type.getElementType()), at, part(load.getMask(), half),
        part(load.getPassThru()[0], half), load.getAlignment()));
  }
  Value low = halves[halves.size() - 2], high = halves.back();
  load.replaceAllUsesWith(b.create<vector::ShuffleOp>(low, high, all).getResult());
  load.erase();
}

/// Masked loads as long as the processor's vectors. LLVM 19 splits longer ones, and where a half of the mask is constant and the other is
/// not, it loads that half as a whole, or ends the process.
void splitMaskedLoads(ModuleOp module) {
  SmallVector<LLVM::MaskedLoadOp> left;
  module.walk([&](LLVM::MaskedLoadOp load) { left.push_back(load); });
  while (!left.empty()) {
    LLVM::MaskedLoadOp load = left.pop_back_val();
    auto type = cast<VectorType>(load.getType());
    if (type.getNumElements() * type.getElementTypeBitWidth() > kProcessorBits)
      halve(load, left);
  }
}

CpuLevel level(const char *name) {
  const VectorMachine &machine = *new PlainMachine(x86Machine(name)); // as long as the process
  CodegenOptions options{"x86_64-unknown-linux-gnu", "x86-64-v3", "", &machine};
  // Vectors of twice the processor's take LLVM three times as long, and nobody measures this code.
  options.optimization = Optimization::None;
  return {name,
          machine,
          {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"},
          cpuSchedules(),
          [options](ModuleOp module) {
            splitMaskedLoads(module);
            return compileToObject(module, options);
          }};
}

class PlainFamily : public CpuFamily {
public:
  PlainFamily()
      : CpuFamily(
            {level("v3+vnni"), level("v4"), level("v4+vnni"), level("v4+bf16"), level("v4+amx")}) {}
  std::string name() const override { return "plain"; }
  std::string hostLevel() const override { return ""; }
  std::string hostProcessor() const override { return ""; }
};

} // namespace

const TargetFamily &plainFamily() {
  static const PlainFamily family;
  return family;
}

} // namespace weft::test
