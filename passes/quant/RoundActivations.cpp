//===- RoundActivations.cpp - Rows of products with block-quantised weights become bytes ----------------===//
//
//   before   contract(x, dequantize_blocks(q, s) block 32)      after   contract(round_blocks(x) block 32, dequantize_blocks(q, s) block 32)
//
// Rounding is written into the program, so the evaluator rounds alike. Rows that are not whole blocks stay as they are.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Rounding.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_ROUNDACTIVATIONS
#include "passes/quant/Passes.h.inc"

namespace {

/// The weight of a product of rows with it, when its integers have blocks along what is summed.
DequantizeBlocksOp blockwiseWeight(ContractOp op) {
  auto weight = op.getRhs().getDefiningOp<DequantizeBlocksOp>();
  if (!weight || isFloat(cast<SymTensorType>(weight.getInput().getType()).getElementType()) ||
      op.getLhs().getDefiningOp<RoundBlocksOp>())
    return {};
  IterationRule rule = IterationRule::of(op);
  ArrayRef<Access> rows = rule.operand(0), columns = rule.operand(1);
  if (rows.empty() || columns.size() != 2)
    return {};
  const Access &last = rows.back(), &axis = columns[weight.getAxis()];
  bool same = last.kind == AccessKind::Point && axis.kind == AccessKind::Point &&
              last.factor() == axis.factor() && rule.factors()[last.factor()].reduced;
  return same ? weight : DequantizeBlocksOp();
}

struct RoundActivationsPass : impl::RoundActivationsBase<RoundActivationsPass> {
  void runOnOperation() override {
    getOperation().walk([](ContractOp op) {
      DequantizeBlocksOp weight = blockwiseWeight(op);
      auto rows = cast<SymTensorType>(op.getLhs().getType());
      if (!weight || !rows.getElementType().isF32() ||
          !RoundBlocksOp::isRegular(rows, weight.getBlock()))
        return;
      OpBuilder b(op);
      op.getLhsMutable().assign(
          b.create<RoundBlocksOp>(op.getLoc(), op.getLhs(), weight.getBlock()));
    });
  }
};

} // namespace
} // namespace weft
