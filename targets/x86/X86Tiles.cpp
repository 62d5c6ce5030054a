//===- X86Tiles.cpp - Intrinsics with numbers of tiles -----------------------------------------------===//
//
// LLVM takes them as they are: it allocates no tile, spills none, and moves no load or store past
// them. Configuring costs 200 cycles, and a kernel that returns without releasing the tiles makes
// every later switch between threads dearer.
//===------------------------------------------------------------------------------------------===//

#include "targets/x86/X86Tiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weft {
namespace {

void call(ImplicitLocOpBuilder &b, const llvm::Twine &name, ValueRange operands) {
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), b.getStringAttr("llvm.x86." + name), operands);
}

Value number(ImplicitLocOpBuilder &b, int64_t tile) {
  return b.create<arith::ConstantOp>(b.getI8IntegerAttr(int8_t(tile)));
}

class X86TileUnit final : public TileUnit {
public:
  int64_t stateBytes() const override { return kConfigurationBytes; }

  /// The palette's number, then, at their places, bytes of a row and rows of every tile.
  void configure(ImplicitLocOpBuilder &b, Value state, ArrayRef<Size> sizes) const override {
    const int64_t palette = 0, rowBytes = 16, rows = 48;
    auto set = [&](int64_t byte, Value value) {
      Value at = b.create<LLVM::GEPOp>(state.getType(), b.getI8Type(), state,
                                       ArrayRef<LLVM::GEPArg>{int32_t(byte)});
      b.create<LLVM::StoreOp>(value, at, 1);
    };
    auto none = VectorType::get({kConfigurationBytes}, b.getI8Type());
    set(0, b.create<arith::ConstantOp>(b.getZeroAttr(none)));
    set(palette, number(b, 1));
    for (auto [tile, size] : llvm::enumerate(sizes)) {
      set(rowBytes + 2 * tile,
          b.create<arith::ConstantOp>(b.getI16IntegerAttr(int16_t(4 * size.words))));
      set(rows + tile, b.create<arith::TruncIOp>(b.getI8Type(), size.rows));
    }
    call(b, "ldtilecfg", {state});
  }
  void release(ImplicitLocOpBuilder &b, Value) const override { call(b, "tilerelease", {}); }

  void zero(ImplicitLocOpBuilder &b, Value, int64_t tile) const override {
    call(b, "tilezero", {number(b, tile)});
  }
  void load(ImplicitLocOpBuilder &b, Value, int64_t tile, Value pointer, Value stride,
            Reuse reuse) const override {
    call(b, reuse == Reuse::Late ? "tileloaddt164" : "tileloadd64",
         {number(b, tile), pointer, stride});
  }
  void store(ImplicitLocOpBuilder &b, Value, int64_t tile, Value pointer,
             Value stride) const override {
    call(b, "tilestored64", {number(b, tile), pointer, stride});
  }

  void multiplyHalves(ImplicitLocOpBuilder &b, Value, Tiles tiles) const override {
    multiply(b, "tdpbf16ps", tiles);
  }
  void multiplyBytes(ImplicitLocOpBuilder &b, Value, Tiles tiles, Signs areSigned) const override {
    multiply(b,
             llvm::Twine("tdpb") + (areSigned.rows ? "s" : "u") + (areSigned.columns ? "s" : "u") +
                 "d",
             tiles);
  }

private:
  static constexpr int64_t kConfigurationBytes = 64;

  static void multiply(ImplicitLocOpBuilder &b, const llvm::Twine &name, Tiles tiles) {
    call(b, name, {number(b, tiles.sums), number(b, tiles.rows), number(b, tiles.columns)});
  }
};

} // namespace

const TileUnit &x86Tiles() {
  static const X86TileUnit unit;
  return unit;
}

} // namespace weft
