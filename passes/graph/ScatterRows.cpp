//===- ScatterRows.cpp - Positions of rows are read once, and rows move whole -------------------------===//
//
//   before   %1 = expand %i to [n, 64]                    after   %2 = scatter_nd add %x, %i, %u
//            %2 = scatter_elements add %x, %1, %u axis 0
//
// Exporters say rows to be added by an index (index_add, scatter along the first axis) as elements that all have a position of their own. Both
// take updates in the same order, and elements of a row never meet.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "passes/graph/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SCATTERROWS
#include "passes/graph/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Positions of which each counts for a whole row, as [n, 1]; null where they are not copied along rows.
Value rowPositions(OpBuilder &b, ScatterElementsOp op) {
  auto copied = op.getIndices().getDefiningOp<ExpandOp>();
  SymTensorType input = typeOf(op.getInput()), indices = typeOf(op.getIndices());
  if (!copied || op.getAxis() != 0 || indices.getRank() < 2 ||
      input.getDimAttributes().drop_front() != indices.getDimAttributes().drop_front())
    return {};
  SymTensorType single = typeOf(copied.getInput());
  bool isOneEach = single.getRank() == indices.getRank() && single.getDim(0) == indices.getDim(0) &&
                   single.getElements() == single.getDim(0);
  if (!isOneEach)
    return {};
  if (single.getRank() == 2)
    return copied.getInput();
  SymExpr dims[] = {single.getDim(0), SymExpr::constant(b.getContext(), 1)};
  return b.create<ReshapeOp>(op.getLoc(), copied.getInput(), DimsAttr::get(b.getContext(), dims));
}

class ScatterRows : public impl::ScatterRowsBase<ScatterRows> {
  void runOnOperation() override {
    getOperation().walk([](ScatterElementsOp op) {
      OpBuilder b(op);
      Value rows = rowPositions(b, op);
      if (!rows)
        return;
      Operation *copied = op.getIndices().getDefiningOp();
      Value moved = b.create<ScatterNdOp>(op.getLoc(), op.getType(), op.getKind(), op.getInput(),
                                          rows, op.getUpdates(), op.getOutside());
      op.getResult().replaceAllUsesWith(moved);
      op.erase();
      if (copied->use_empty())
        copied->erase();
    });
  }
};

} // namespace
} // namespace weft
