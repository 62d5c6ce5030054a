//===- DepthwiseLast.cpp - Convolutions with one channel per filter, channels last ----------------------------===//
//
// y[n, p, q, g] = epilogue(sum over i, j of w[g, i, j] * x[n, p * s + i * d - top, q * t + j * e - left, g]). The filter is packed as
// [channels / lanes][taps][lanes] of f32: what a vector of channels needs lies side by side. Elements of 16 bits are widened when they are
// loaded, and bytes that stand for reals are restored.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/window/ChannelWindows.h"

using namespace mlir;

namespace weft {
namespace {

bool isNumber(Value value) {
  return cast<SymTensorType>(value.getType()).getElements().isConstant(1);
}

/// What lies in memory: what is multiplied, or bytes that it is restored from by one scale and zero point.
Value imageOf(const ConvolutionShape &s) {
  auto restored = s.op.getInput().getDefiningOp<DequantizeOp>();
  bool ofBytes = restored && isByte(restored.getInput()) && isNumber(restored.getScale()) &&
                 isNumber(restored.getZero());
  return ofBytes ? restored.getInput() : s.op.getInput();
}

ChannelWindows windowsOf(const ConvolutionShape &s) {
  return {s.op.getResult(),
          cast<BlockArgument>(imageOf(s)),
          s.isLine,
          {s.window[0], s.window[1]},
          true,
          s.op.getInput().getDefiningOp<DequantizeOp>()};
}

class DepthwiseLastEmitter : public ChannelEmitter {
public:
  DepthwiseLastEmitter(KernelContext &c, const ConvolutionShape &s)
      : ChannelEmitter(c, windowsOf(s)), filter(s.filter) {
    // Beside products loads have room where stores are few. Only whole vectors may be read.
    bool isWhole = !(s.filters % int64_t(c.machine.lanes()));
    if (startsSums() && storesPairs() && isWhole)
      bias = s.bias();
  }

private:
  TypedAttr identity() override {
    return FloatAttr::get(Float32Type::get(s.result.getContext()), 0.0);
  }
  Value weights(KernelContext &c, IndexValue channel, Value tap) override {
    Type f32 = c.b.getF32Type();
    int64_t taps = rows.kernel * columns.kernel, lanes = c.machine.lanes();
    Value panel =
        elementPointer(c.b, c.inputs[filter], f32, c.mul(channel.base, constantI64(c.b, taps)));
    Value at = elementPointer(c.b, panel, f32, c.mul(tap, constantI64(c.b, lanes)));
    auto load = c.b.create<LLVM::LoadOp>(VectorType::get({lanes}, f32), at, 4);
    load.setInvariant(true);
    return load;
  }
  Value add(KernelContext &c, Value sum, Value x, Value w) override {
    return c.b.create<vector::FMAOp>(x, w, sum);
  }
  /// The bias is loaded for every sum: a copy of what is in a register would take a unit that multiplies, as adding it later would.
  Value start(KernelContext &c, IndexValue channel, Value x, Value w) override {
    if (!bias)
      return c.b.create<arith::MulFOp>(x, w);
    Type f32 = c.b.getF32Type();
    Value at = elementPointer(c.b, c.inputs[bias->added.getArgNumber()], f32, channel.base);
    // Volatile, or it would be loaded once and copied.
    auto begin = c.b.create<LLVM::LoadOp>(VectorType::get({c.machine.lanes()}, f32), at, 4,
                                          /*isVolatile=*/true);
    return add(c, begin, x, w);
  }
  Value summed() const override { return bias ? bias->sum : ChannelEmitter::summed(); }

  unsigned filter;
  std::optional<ConvolutionShape::Bias> bias;
};

class DepthwiseLastSchedule : public Schedule {
public:
  StringRef name() const override { return "depthwise_last"; }
  LoopKind loops() const override { return LoopKind::Depthwise; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    auto s = ConvolutionShape::match(spec, true);
    if (!s)
      return s.decline();
    if (Decline why = s->unlessDepthwise(imageOf(*s)))
      return why;
    return s->hasBytes() ? Decline{"bytes are multiplied"} : Decline{};
  }
  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    return windowsOf(*ConvolutionShape::match(spec, true)).launch(machine);
  }
  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.filter] =
        WeightLayout::panels(machine.lanes(), WeightLayout::WidthByDepth, s.filterForm());
    return result;
  }
  void emit(KernelContext &c) const override {
    DepthwiseLastEmitter(c, *ConvolutionShape::match(c.spec, true)).emit();
  }
};

} // namespace

const Schedule *depthwiseLastSchedule() {
  static const DepthwiseLastSchedule schedule;
  return &schedule;
}

} // namespace weft
