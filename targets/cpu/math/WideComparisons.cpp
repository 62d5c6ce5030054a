//===- WideComparisons.cpp - Comparisons of what was widened from f16 ----------------------------===//

#include "targets/cpu/math/WideComparisons.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace weft {

void keepComparisonsWide(ModuleOp module) {
  module.walk([](LLVM::FPExtOp op) {
    if (!getElementTypeOrSelf(op.getArg().getType()).isF16())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op->getContext());
    b.setInsertionPointAfter(op);
    Value wide = op.getRes();
    auto fence = b.create<LLVM::CallIntrinsicOp>(
        wide.getType(), b.getStringAttr("llvm.arithmetic.fence"), ValueRange{wide});
    wide.replaceAllUsesExcept(fence.getResult(0), fence);
  });
}

} // namespace weft
