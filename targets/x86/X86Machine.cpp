//===- X86Machine.cpp - Vectors and intrinsics of x86-64 ----------------------------------------------===//
//
// Multiply-adds read an element from memory and spread it (or AVX-512 does), so that tiles leave few registers for anything but sums.
//===------------------------------------------------------------------------------------------===//

#include "targets/x86/X86Machine.h"
#include "targets/x86/SseMachine.h"
#include "targets/x86/X86Tables.h"
#include "targets/x86/X86Tiles.h"

using namespace mlir;

namespace weft {
namespace {

constexpr unsigned kNeverMasked = 1024;

class Avx512Machine : public SseMachine {
public:
  /// What AVX-512 was extended by. `bf16`: products at the rate of f32.
  struct Extensions {
    bool vnni = false, bf16 = false, tiles = false;
  };
  Avx512Machine(Traits traits, Extensions has)
      : SseMachine(std::move(traits), 8, products(has.vnni)), has(has) {}

  const TileUnit *tiles() const override { return has.tiles ? &x86Tiles() : nullptr; }
  bool addsHalfProducts() const override { return has.bf16; }
  Value addHalfProducts(ImplicitLocOpBuilder &b, Value sum, Value x, Value y) const override {
    auto asPairs = [&](Value words) -> Value {
      return b.create<LLVM::BitcastOp>(VectorType::get({32}, b.getBF16Type()), words);
    };
    return callIntrinsic(b, sum.getType(), "llvm.x86.avx512bf16.dpbf16ps.512",
                         {sum, asPairs(x), asPairs(y)});
  }
  Value roundForHalfProducts(ImplicitLocOpBuilder &b, Value reals) const override {
    Value rounded = callIntrinsic(b, VectorType::get({16}, b.getBF16Type()),
                                  "llvm.x86.avx512bf16.cvtneps2bf16.512", reals);
    return b.create<LLVM::BitcastOp>(VectorType::get({16}, b.getI16Type()), rounded);
  }

  bool looksUp(Type type) const override { return x86LooksUp(type); }
  Value lookUp(ImplicitLocOpBuilder &b, ArrayRef<float> table, Value index) const override {
    return x86LookUp(b, table, index);
  }
  bool looksUpBytes() const override { return true; }
  Value lookUpBytes(ImplicitLocOpBuilder &b, Value table, Value bytes) const override {
    return x86LookUpBytes(b, table, bytes);
  }

  bool splitsFloats(Type type) const override {
    int64_t bits = bitsOf(type);
    return bits == 128 || bits == 256 || bits == 512;
  }
  Value scaleByPower(ImplicitLocOpBuilder &b, Value p, Value n) const override {
    return callMasked(b, "mask.scalef", p, {p, n, p});
  }
  Value exponentOf(ImplicitLocOpBuilder &b, Value x) const override {
    return callMasked(b, "mask.getexp", x, {x, x});
  }
  Value mantissaNearOne(ImplicitLocOpBuilder &b, Value x) const override {
    const int threeQuartersAndNanIfNegative = 0b1111;
    Value control = b.create<arith::ConstantOp>(b.getI32IntegerAttr(threeQuartersAndNanIfNegative));
    return callMasked(b, "mask.getmant", x, {x, control, x});
  }
  Value estimateReciprocal(ImplicitLocOpBuilder &b, Value x) const override {
    return callMasked(b, "rcp14", x, {x, x});
  }

private:
  static Products products(bool vnni) {
    const char *pairs = "llvm.x86.avx512.pmaddw.d.512";
    return vnni ? Products{pairs, "llvm.x86.avx512.vpdpbusd.512", nullptr}
                : Products{pairs, nullptr, "llvm.x86.avx512.pmaddubs.w.512"};
  }
  /// Of a vector; 0 for a scalar.
  static int64_t bitsOf(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.getNumElements() * vector.getElementTypeBitWidth() : 0;
  }

  /// Calls "llvm.x86.avx512.<stem>.ps.512" and so on, for the type of `like` and with all lanes enabled.
  static Value callMasked(ImplicitLocOpBuilder &b, llvm::StringRef stem, Value like,
                          SmallVector<Value> operands) {
    auto type = cast<VectorType>(like.getType());
    Type mask = b.getIntegerType(std::max<int64_t>(8, type.getNumElements()));
    operands.push_back(b.create<arith::ConstantOp>(mask, b.getIntegerAttr(mask, -1)));
    bool takesRounding = bitsOf(type) == 512 && !stem.starts_with("rcp14");
    if (takesRounding) {
      const int currentDirection = 4;
      operands.push_back(b.create<arith::ConstantOp>(b.getI32IntegerAttr(currentDirection)));
    }
    return callIntrinsic(b, type,
                         "llvm.x86.avx512." + stem +
                             (type.getElementType().isF64() ? ".pd." : ".ps.") +
                             llvm::Twine(bitsOf(type)),
                         operands);
  }

  const Extensions has;
};

} // namespace

const VectorMachine &x86Machine(llvm::StringRef level) {
  const TileRows fewProducts{6, {6, 4, 3}}, fewFilters{6, {6, 4, 2}}, many{14, {14, 10, 7}};
  const VectorMachine::Traits avx512{16, 32,    true, true,  many, {13, {13, 9, 6}},
                                     0,  false, true, false, true, /*operationsOfNanosecond=*/128};
  const VectorMachine::Traits avx2{8, 16,    true, true,  fewProducts, fewFilters,
                                   0, false, true, false, true};
  static const SseMachine v2({4, 16, false, false, fewProducts, fewFilters}, kNeverMasked,
                             {"llvm.x86.sse2.pmadd.wd", nullptr, "llvm.x86.ssse3.pmadd.ub.sw.128"}),
      v3(avx2, 32, {"llvm.x86.avx2.pmadd.wd", nullptr, "llvm.x86.avx2.pmadd.ub.sw"}),
      v3vnni(avx2, 32, {"llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.vpdpbusd.256", nullptr});
  // Processors with tiles multiply pairs of bf16 in vectors at half the rate of f32, and have two whole units for vectors of f32.
  VectorMachine::Traits withTiles = avx512;
  withTiles.operationsOfNanosecond = 224;
  static const Avx512Machine v4(avx512, {}), vnni(avx512, {true}), bf16(avx512, {true, true}),
      amx(withTiles, {true, false, true});
  const SseMachine &wide = level == "v4"        ? v4
                           : level == "v4+vnni" ? vnni
                           : level == "v4+bf16" ? bf16
                                                : amx;
  return level == "v2" ? v2 : level == "v3" ? v3 : level == "v3+vnni" ? v3vnni : wide;
}

} // namespace weft
