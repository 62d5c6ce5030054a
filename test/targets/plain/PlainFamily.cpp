//===- PlainFamily.cpp - What special instructions compute, in plain vector code ------------------===//

#include "test/targets/plain/PlainFamily.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

  bool addsByteProducts() const override { return like.addsByteProducts(); }
  Value addByteProducts(ImplicitLocOpBuilder &b, Value sum, Value unsignedBytes,
                        Value signedBytes) const override {
    for (int part = 0; part < 4; ++part) {
      Value x = b.create<arith::AndIOp>(b.create<arith::ShRUIOp>(unsignedBytes, words(b, 8 * part)),
                                        words(b, 255));
      Value y = b.create<arith::ShRSIOp>(
          b.create<arith::ShLIOp>(signedBytes, words(b, 24 - 8 * part)), words(b, 24));
      sum = b.create<arith::AddIOp>(sum, b.create<arith::MulIOp>(x, y));
    }
    return sum;
  }

private:
  Value words(ImplicitLocOpBuilder &b, int32_t value) const {
    auto type = VectorType::get({lanes()}, b.getI32Type());
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
  }

  const VectorMachine &like;
};

CpuLevel level(const char *name) {
  const VectorMachine &machine = *new PlainMachine(x86Machine(name)); // as long as the process
  CodegenOptions options{"x86_64-unknown-linux-gnu", "x86-64-v3", "", &machine};
  return {name,
          machine,
          {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"},
          cpuSchedules(),
          [options](ModuleOp module) { return compileToObject(module, options); }};
}

class PlainFamily : public CpuFamily {
public:
  PlainFamily()
      : CpuFamily({level("v3+vnni"), level("v4+vnni"), level("v4+bf16"), level("v4+amx")}) {}
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
