//===- NarrowWeights.cpp - Constant matrices of products in 16 bits -------------------------------===//
//
// Rounding is written into the program, so the evaluator rounds alike. Nothing else that reads the constant changes. A rank's part of a
// constant is rounded like the whole.
//===------------------------------------------------------------------------------------------===//

#include "passes/kernel/ConstantParts.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_NARROWWEIGHTS
#include "passes/quant/Passes.h.inc"

namespace {

bool isConstantMatrix(Value value) {
  auto type = cast<SymTensorType>(value.getType());
  return constantBehind(value) && type.getRank() == 2 && type.getElementType().isF32();
}

struct NarrowWeightsPass : impl::NarrowWeightsBase<NarrowWeightsPass> {
  using NarrowWeightsBase::NarrowWeightsBase;
  void runOnOperation() override {
    Builder b(&getContext());
    Type narrow = element == "f16" ? b.getF16Type() : b.getBF16Type();
    getOperation().walk([&](ContractOp op) {
      if (!isConstantMatrix(op.getRhs()) || constantBehind(op.getLhs()))
        return;
      OpBuilder at(op);
      Value rounded = at.create<ConvertOp>(op.getLoc(), op.getRhs(), narrow);
      op.getRhsMutable().assign(at.create<ConvertOp>(op.getLoc(), rounded, b.getF32Type()));
    });
  }
};

} // namespace
} // namespace weft
