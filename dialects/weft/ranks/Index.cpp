//===- Index.cpp - gather, gather_elements: tables that ranks have rows of ------------------------------===//

#include "dialects/weft/ranks/Together.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Positions as they are within a rank's part, and whether they are.
struct Here {
  Value at, isInside;
};

/// `at` is inside of a part that is not empty, wherever the position is.
Here within(ImplicitLocOpBuilder &b, Value positions, Outside outside, SymExpr whole, SymExpr begin,
            SymExpr size) {
  Value zero = sizeValue(b, SymExpr::constant(b.getContext(), 0));
  Value at = positions;
  if (!typeOf(at).getElementType().isInteger(64))
    at = b.create<ConvertOp>(at, b.getI64Type());
  at = b.create<SelectOp>(b.create<CompareOp>(CompareKind::Less, at, zero),
                          b.create<AddOp>(at, sizeValue(b, whole)), at);
  auto clamp = [&](Value value, SymExpr count) {
    Value most = sizeValue(b, SymExpr::pos(count - 1));
    return b.create<MaximumOp>(b.create<MinimumOp>(value, most), zero);
  };
  if (outside == Outside::Clamped)
    at = clamp(at, whole);
  at = b.create<SubOp>(at, sizeValue(b, begin));
  Value isInside = b.create<AndOp>(b.create<CompareOp>(CompareKind::GreaterEqual, at, zero),
                                   b.create<CompareOp>(CompareKind::Less, at, sizeValue(b, size)));
  return {clamp(at, size), isInside};
}

/// A rank gives what its rows have, and zeros for positions that others have.
template <typename Model, typename Gather>
struct RowsTogether : TogetherOpInterface::ExternalModel<Model, Gather> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    auto gather = cast<Gather>(op);
    SymTensorType type = typeOf(gather.getInput());
    if (!isExchanged(type.getElementType()))
      return {};
    Cut cut = cutOfFirst(
        op, Cut::Dim{unsigned(gather.getAxis()), SymExpr::constant(op->getContext(), 1)}, {});
    cut.partial = type.getElementType().isInteger(1) ? Combiner::Or : Combiner::Sum;
    return {cut};
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto gather = cast<Gather>(op);
    unsigned axis = gather.getAxis();
    if (!isThrough(cut, axis))
      return {};
    Value table = gather.getInput(), positions = share.whole(gather.getIndices());
    SymExpr whole = typeOf(table).getDim(axis);
    if (gather.getOutside() == Outside::Refused)
      b.create<CheckPositionsOp>(positions, DimsAttr::get(b.getContext(), {whole}));
    Value part = share.part(table, axis);
    Here here = within(b, positions, gather.getOutside(), whole, share.partBegin(table, axis),
                       typeOf(part).getDim(axis));
    Value rows = Model::pick(b, part, here.at, axis, share.group), isInside = here.isInside;
    for (unsigned d = Model::dimsBehind(typeOf(table), axis); d-- > 0;)
      isInside = withDimOfOne(b, isInside, typeOf(isInside).getRank());
    return {b.create<SelectOp>(isInside, rows, zeroOf(b, typeOf(part).getElementType()))};
  }
};

struct GatherTogether : RowsTogether<GatherTogether, GatherOp> {
  static unsigned dimsBehind(SymTensorType table, unsigned axis) {
    return table.getRank() - axis - 1;
  }
  /// A part that may be empty gets a row.
  static Value pick(ImplicitLocOpBuilder &b, Value part, Value at, unsigned axis, MeshAttr group) {
    SymExpr one = SymExpr::constant(b.getContext(), 1);
    if (placeFacts(group).proveLE(one, typeOf(part).getDim(axis)) != Proof::Yes)
      part = widened(b, part, axis, one - 1, one, zeroOf(b, typeOf(part).getElementType()));
    return b.create<GatherOp>(part, at, axis, Outside::Unchecked);
  }
};

struct GatherElementsTogether : RowsTogether<GatherElementsTogether, GatherElementsOp> {
  static unsigned dimsBehind(SymTensorType, unsigned) { return 0; }
  /// From an empty dimension come zeros.
  static Value pick(ImplicitLocOpBuilder &b, Value part, Value at, unsigned axis, MeshAttr) {
    return b.create<GatherElementsOp>(part, at, axis, Outside::Clamped);
  }
};

} // namespace

void registerIndexTogether(MLIRContext *context) {
  GatherOp::attachInterface<GatherTogether>(*context);
  GatherElementsOp::attachInterface<GatherElementsTogether>(*context);
}

} // namespace weft
