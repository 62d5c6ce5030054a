//===- DecomposeComposites.cpp - What no schedule takes is written with smaller operators ------------------===//
//
//   before   %1 = weft.softmax %0      after   %1 = weft.reduce max %0 [1]; %2 = weft.reshape %1 to [m, 1]
//                                              %3 = weft.sub %0, %2; %4 = weft.exp %3
//                                              %5 = weft.reduce sum %4 [1]; %6 = weft.reshape %5 to [m, 1]
//                                              %7 = weft.div %4, %6
//
// A target that has no code for the lines of a composite computes it all the same, in more passes
// over memory. Who takes what is asked for a kernel of the composite alone; without anybody to ask,
// none is taken. Runs before kernels are formed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/kernel/Passes.h"
#include "passes/kernel/Specification.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "passes/kernel/Passes.h.inc"

namespace {

/// A kernel in front of `op` that computes nothing else.
KernelOp kernelOf(Operation *op) {
  OpBuilder b(op);
  auto kernel = b.create<KernelOp>(op->getLoc(), op->getResultTypes(), op->getOperands(),
                                   cast<ElementOpInterface>(op).rootKind());
  Block *body = b.createBlock(&kernel.getBody());
  IRMapping inside;
  for (Value operand : op->getOperands())
    inside.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
  Operation *clone = b.clone(*op, inside);
  b.create<YieldOp>(op->getLoc(), clone->getResults());
  return kernel;
}

struct DecomposeComposites : impl::DecomposeCompositesBase<DecomposeComposites> {
  void runOnOperation() override {
    SmallVector<CompositeOpInterface> composites;
    getOperation().walk([&](CompositeOpInterface op) { composites.push_back(op); });
    for (CompositeOpInterface op : composites) {
      if (hasSchedule(op))
        continue;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op->replaceAllUsesWith(op.decompose(b));
      op->erase();
      ++decomposed;
    }
  }

  std::shared_ptr<const KernelChooser> chooser;

private:
  bool hasSchedule(Operation *op) {
    if (!chooser)
      return false;
    KernelOp kernel = kernelOf(op);
    Specification specification = specify(kernel);
    kernel->erase();
    return chooser->choose(*specification.module->getOps<func::FuncOp>().begin()).has_value();
  }
};

} // namespace

std::unique_ptr<Pass> createDecomposeComposites(std::shared_ptr<const KernelChooser> chooser) {
  auto pass = std::make_unique<DecomposeComposites>();
  pass->chooser = std::move(chooser);
  return pass;
}

} // namespace weft
