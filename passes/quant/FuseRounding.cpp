//===- FuseRounding.cpp - What a kernel quantises and restores stays a real -----------------------------===//
//
//   %1 = quantize %0, %s, %z ; %2 = dequantize %1, %t, %z        ->        %2 = fake_quantize %0, %s, %z, %t
//
// Only inside a kernel: between kernels integers are stored, which are narrower.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Quantize.h"
#include "passes/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FUSEROUNDING
#include "passes/Passes.h.inc"

namespace {

bool isSame(Value a, Value b) {
  auto first = a.getDefiningOp<FillOp>(), second = b.getDefiningOp<FillOp>();
  return a == b || (first && second && first.getValue() == second.getValue());
}

struct FuseRoundingPass : impl::FuseRoundingBase<FuseRoundingPass> {
  void runOnOperation() override {
    SmallVector<DequantizeOp> all;
    getOperation().walk([&](DequantizeOp op) { all.push_back(op); });
    for (DequantizeOp op : all) {
      auto quantize = op.getInput().getDefiningOp<QuantizeOp>();
      if (!quantize || !op->getParentOfType<KernelOp>() || !isSame(quantize.getZero(), op.getZero()))
        continue;
      OpBuilder b(op);
      Value rounded =
          b.create<FakeQuantizeOp>(op.getLoc(), op.getType(), quantize.getInput(),
                                   quantize.getScale(), quantize.getZero(), op.getScale());
      op.getResult().replaceAllUsesWith(rounded);
      op.erase();
      if (quantize->use_empty())
        quantize.erase();
    }
  }
};

} // namespace
} // namespace weft
