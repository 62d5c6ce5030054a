//===- ObserveMoments.cpp - How channels that layers read go along with each other ----------------===//
//
//   before   %1 = contract "m k, k n -> m n" %0, %w ; return %1
//   after    %moments = contract "m k, m l -> k l" %0, %0 ; return %moments
//
// Such a matrix has the squares of as many numbers as an edge has channels, so a program returns those of few edges, and nothing else: what
// stands behind the last of them is not computed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/quant/IntegerLayers.h"
#include "passes/quant/Passes.h"
#include "passes/quant/PositionMask.h"
#include "passes/quant/RegionValues.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OBSERVEMOMENTS
#include "passes/quant/Passes.h.inc"

namespace {

/// What is read, one row after the other, its channels last.
Value rowsOf(ImplicitLocOpBuilder &b, const Edge &edge, const PositionMask &mask) {
  auto type = cast<SymTensorType>(edge.value.getType());
  SmallVector<int64_t> order;
  SymExpr rows = SymExpr::constant(b.getContext(), 1);
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (d != *edge.channel) {
      order.push_back(d);
      rows = rows * type.getDim(d);
    }
  order.push_back(*edge.channel);
  Value value = mask.applied(b, edge.value);
  if (!llvm::is_sorted(order))
    value = b.create<TransposeOp>(value, order);
  return b.create<ReshapeOp>(value,
                             DimsAttr::get(b.getContext(), {rows, type.getDim(*edge.channel)}));
}

Value momentsOf(const Edge &edge, Block *block, const PositionMask &mask) {
  ImplicitLocOpBuilder b(edge.value.getLoc(), block->getTerminator());
  Value rows = rowsOf(b, edge, mask);
  SymExpr channels = cast<SymTensorType>(rows.getType()).getDim(1);
  auto type = SymTensorType::get({channels, channels}, b.getF32Type());
  return b.create<ContractOp>(type, "m k, m l -> k l", rows, rows, b.getF32Type());
}

struct ObserveMomentsPass : impl::ObserveMomentsBase<ObserveMomentsPass> {
  using ObserveMomentsBase::ObserveMomentsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || function.isExternal())
      return;
    FailureOr<PositionMask> positions = PositionMask::of(function, mask);
    if (failed(positions))
      return signalPassFailure();
    std::vector<IntegerLayer> layers = integerLayers(function);
    std::vector<Edge> all = edgesOf(layers);
    SmallVector<CombinedValue> moments;
    Operation *end = function.getBody().front().getTerminator();
    function.eraseResults(llvm::BitVector(function.getNumResults(), true));
    end->setOperands({});
    for (int64_t index : edges) {
      if (index < 0 || index >= int64_t(all.size()) || !all[size_t(index)].channel) {
        function.emitOpError("has no edge ") << index << " with channels";
        return signalPassFailure();
      }
      const Edge &edge = all[size_t(index)];
      moments.push_back(
          {momentsOf(edge, blockReading(edge, layers), *positions), CombinerKind::Sum});
    }
    Builder b(&getContext());
    for (auto [index, value] : llvm::zip_equal(edges, ofWholeCall(moments))) {
      auto name = b.getStringAttr("edge" + std::to_string(index) + ".moments");
      function.insertResult(function.getNumResults(), value.getType(),
                            b.getDictionaryAttr(b.getNamedAttr(kNameAttr, name)));
      end->insertOperands(end->getNumOperands(), value);
    }
  }
};

} // namespace
} // namespace weft
