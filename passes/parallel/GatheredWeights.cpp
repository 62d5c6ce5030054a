//===- GatheredWeights.cpp - Weights of which a rank reads a part and uses the whole --------------------===//
//
//   before   %w = weft.constant @up {weft.placement = #weft.placement<[dp*, _]>}
//            %2 = weft.contract "m k, k n -> m n" %1, %w
//   after    %p = weft.slice %w from [rank_dp*64, 0] size [64, 32] …
//            %g = weft.all_gather %p dim 0 to [128] over<dp = 2>            // directly before who reads it first
//            %2 = weft.contract "m k, k n -> m n" %1, %g
//
// Axes have been split before, so what is a slice of the weight by then is what a rank uses along other axes: that is gathered, and no more. A slice that a
// region takes is gathered there: a loop over stacked layers holds one layer's weight at a time.
//===------------------------------------------------------------------------------------------===//

#include "passes/parallel/GatheredWeights.h"
#include "dialects/weft/Gathered.h"
#include "dialects/weft/ops/Collective.h"
#include "passes/parallel/Assignment.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

class WeightGathering {
public:
  WeightGathering(func::FuncOp function, StringAttr axis, int64_t ranks)
      : body(function.getBody().front()), group(MeshAttr::get(axis.getContext(), {axis}, {ranks})) {
  }

  unsigned run() {
    for (ConstantOp constant : llvm::to_vector(body.getOps<ConstantOp>()))
      if (PlacementAttr placement = placementOf(constant.getResult()))
        if (std::optional<unsigned> dim = gatheredDim(placement, group.getAxes()[0]))
          gatherIn(constant.getResult(), *dim);
    return made;
  }

private:
  /// The value, and what other axes cut out of it, where ranks along this one do not read other parts anyway.
  void gatherIn(Value value, unsigned dim) {
    SmallVector<OpOperand *> uses;
    SmallVector<Value> parts;
    for (OpOperand &use : value.getUses())
      if (auto slice = dyn_cast<SliceOp>(use.getOwner()))
        parts.push_back(slice.getResult());
      else
        uses.push_back(&use);
    for (Value part : parts)
      if (auto slice = part.getDefiningOp<SliceOp>(); llvm::none_of(
              slice.getStarts().getDims(), [&](SymExpr start) { return differsIn(start, group); }))
        gatherIn(part, dim);
    if (!uses.empty() && typeOf(value).getDim(dim).asConstant().value_or(2) >= 2)
      gather(value, dim, uses);
  }

  void gather(Value value, unsigned dim, ArrayRef<OpOperand *> uses) {
    MLIRContext *context = value.getContext();
    SymTensorType type = typeOf(value);
    SmallVector<SymExpr> sizes(type.getDims()),
        starts(type.getRank(), SymExpr::constant(context, 0));
    SymExpr whole = type.getDim(dim);
    sizes[dim] = partSize(whole, group.getRanks(), placeIn(group));
    starts[dim] = partBegin(whole, group.getRanks(), placeIn(group));
    Operation *first = nullptr;
    for (OpOperand *use : uses) {
      Operation *reader = value.getParentBlock()->findAncestorOpInBlock(*use->getOwner());
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
    }
    OpBuilder builder(first);
    auto part = builder.create<SliceOp>(value.getLoc(), value, DimsAttr::get(context, starts),
                                        DimsAttr::get(context, sizes),
                                        SmallVector<int64_t>(type.getRank(), 1));
    auto all = builder.create<AllGatherOp>(first->getLoc(), part, dim,
                                           DimsAttr::get(context, {whole}), group);
    for (OpOperand *use : uses)
      use->set(all);
    ++made;
  }

  Block &body;
  MeshAttr group;
  unsigned made = 0;
};

} // namespace

unsigned gatherWeights(func::FuncOp function) {
  auto mesh = function->getAttrOfType<MeshAttr>(kSplitOverAttr);
  unsigned made = 0;
  for (auto [axis, ranks] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))
    if (ranks > 1)
      made += WeightGathering(function, axis, ranks).run();
  return made;
}

} // namespace weft
