//===- FuseRounding.cpp - What a kernel quantises and restores stays a real -----------------------------===//
//
//   %1 = quantize %0, %s, %z ; %2 = dequantize %1, %t, %z        ->        %2 = fake_quantize %0, %s, %z, %t
//
//   %3 = add %2, %y                                              ->        %3 = multiply_add (fake_quantize %0, %s, %z, 1), %t, %y
//
// Only inside a kernel: between kernels integers are stored, which are narrower.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FUSEROUNDING
#include "passes/quant/Passes.h.inc"

namespace {

bool isSame(Value a, Value b) {
  auto first = a.getDefiningOp<FillOp>(), second = b.getDefiningOp<FillOp>();
  return a == b || (first && second && first.getValue() == second.getValue());
}

/// The sum's only other use of a rounded operand is to be added: the product with its step and the sum are one operation.
void multiplyWhereAdded(AddOp add) {
  for (unsigned i : {0u, 1u}) {
    auto rounded = add->getOperand(i).getDefiningOp<FakeQuantizeOp>();
    if (!rounded || !rounded->hasOneUse() || rounded.getType() != add.getType() ||
        add->getOperand(1 - i).getType() != add.getType())
      continue;
    OpBuilder b(add);
    Value one = b.create<FillOp>(
        add.getLoc(), SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getF32Type()),
        b.getF32FloatAttr(1));
    Value whole = b.create<FakeQuantizeOp>(add.getLoc(), add.getType(), rounded.getInput(),
                                           rounded.getScale(), rounded.getZero(), one);
    Value sum = b.create<MultiplyAddOp>(add.getLoc(), add.getType(), whole, rounded.getStep(),
                                        add->getOperand(1 - i));
    add.getResult().replaceAllUsesWith(sum);
    add.erase();
    rounded.erase();
    return;
  }
}

struct FuseRoundingPass : impl::FuseRoundingBase<FuseRoundingPass> {
  void runOnOperation() override {
    SmallVector<DequantizeOp> all;
    getOperation().walk([&](DequantizeOp op) { all.push_back(op); });
    for (DequantizeOp op : all) {
      auto quantize = op.getInput().getDefiningOp<QuantizeOp>();
      if (!quantize || !op->getParentOfType<KernelOp>() ||
          !isSame(quantize.getZero(), op.getZero()))
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
    SmallVector<AddOp> sums;
    getOperation().walk([&](AddOp op) {
      if (op->getParentOfType<KernelOp>())
        sums.push_back(op);
    });
    llvm::for_each(sums, multiplyWhereAdded);
  }
};

} // namespace
} // namespace weft
