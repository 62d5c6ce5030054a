//===- Depthwise.cpp - Convolutions with one channel per filter --------------------------------------------===//
//
// y[n, g, p, q] = epilogue(sum over i, j of w[g, i, j] * x[n, g, p * s + i * d - top, q * t + j * e - left]). A unit is one plane (n, g).
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/window/PlaneWindows.h"

using namespace mlir;

namespace weft {
namespace {

PlaneWindows windowsOf(const ConvolutionShape &s) {
  SymExpr channels = SymExpr::constant(s.op.getContext(), s.groups);
  return {s.op.getResult(),
          cast<BlockArgument>(s.op.getInput()).getArgNumber(),
          {s.batch, channels},
          s.isLine,
          {s.window[0], s.window[1]}};
}

class DepthwiseEmitter : public PlaneEmitter {
public:
  DepthwiseEmitter(KernelContext &c, const ConvolutionShape &s)
      : PlaneEmitter(c, windowsOf(s)), groups(s.groups), argument(s.filter) {}

private:
  void startPlane(Value plane) override {
    Value channel = c.b.create<arith::RemUIOp>(plane, number(groups));
    filter = elementPointer(c.b, c.inputs[argument], c.b.getF32Type(),
                            c.mul(channel, number(rows.kernel * columns.kernel)));
  }
  Value identity() override { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType())); }
  Value add(Value sum, ArrayRef<Value> taps, int64_t i) override {
    for (int64_t j = 0; j < columns.kernel; ++j) {
      Value w = elementPointer(c.b, filter, c.b.getF32Type(), number(i * columns.kernel + j));
      Value all = c.b.create<vector::SplatOp>(c.b.create<LLVM::LoadOp>(c.b.getF32Type(), w, 4),
                                              vectorType());
      sum = c.b.create<vector::FMAOp>(taps[j], all, sum);
    }
    return sum;
  }

  int64_t groups;
  unsigned argument;
  Value filter;
};

class DepthwiseSchedule : public Schedule {
public:
  StringRef name() const override { return "depthwise"; }
  LoopKind loops() const override { return LoopKind::Depthwise; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    auto s = ConvolutionShape::match(spec);
    if (!s)
      return s.decline();
    if (Decline why = s->unlessDepthwise(s->op.getInput()))
      return why;
    return windowsOf(*s).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &) const override {
    return windowsOf(*ConvolutionShape::match(spec)).launch();
  }
  /// Filters of 16 bits as f32, in the same order: they are few.
  SmallVector<WeightLayout> layouts(func::FuncOp spec, const VectorMachine &) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    if (isHalf(s.element()))
      result[s.filter] = WeightLayout::panels(1, WeightLayout::WidthByDepth, s.filterForm());
    return result;
  }
  void emit(KernelContext &c) const override {
    DepthwiseEmitter(c, *ConvolutionShape::match(c.spec)).emit();
  }
};

} // namespace

const Schedule *depthwiseSchedule() {
  static const DepthwiseSchedule schedule;
  return &schedule;
}

} // namespace weft
