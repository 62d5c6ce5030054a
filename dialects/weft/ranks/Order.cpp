//===- Order.cpp - arg_reduce, cumulate, top_k: lines that ranks have parts of --------------------------===//

#include "dialects/weft/ranks/Together.h"
#include <limits>

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

Cut::Dim along(Operation *op, int64_t axis) {
  return {unsigned(axis), SymExpr::constant(op->getContext(), 1)};
}

//===-- arg_reduce -------------------------------------------------------------------------------===//

/// Every rank's extremum with its position; the first of equal ones is the first of the line, because ranks are in order. A part without
/// elements has the value that is furthest from an extremum and, with the last of equal ones, the position before its begin: the line's last.
struct ArgReduceTogether : TogetherOpInterface::ExternalModel<ArgReduceTogether, ArgReduceOp> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    auto reduce = cast<ArgReduceOp>(op);
    if (!isExchanged(typeOf(reduce.getInput()).getElementType()))
      return {};
    return {cutOfFirst(op, along(op, reduce.getAxis()), {})};
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto reduce = cast<ArgReduceOp>(op);
    unsigned axis = reduce.getAxis();
    if (!isThrough(cut, axis))
      return {};
    Value part = share.part(reduce.getInput(), axis);
    bool isLast = reduce.getSelectLast();
    auto kind = reduce.getKind() == ExtremumKind::Max ? CombinerKind::Max : CombinerKind::Min;
    Value best = b.create<ReduceOp>(kind, part, ArrayRef<int64_t>{int64_t(axis)}),
          at = b.create<ArgReduceOp>(reduce.getKind(), part, axis, isLast);
    at = b.create<AddOp>(at, sizeValue(b, share.partBegin(reduce.getInput(), axis)));
    Value bests = besideEachOther(b, best, axis, share.group),
          places = besideEachOther(b, at, axis, share.group);
    Value winner = b.create<ArgReduceOp>(reduce.getKind(), bests, axis, isLast);
    Value found =
        b.create<GatherElementsOp>(places, withDimOfOne(b, winner, axis), axis, Outside::Unchecked);
    return {reshaped(b, found, typeOf(reduce.getResult()).getDims())};
  }
};

//===-- cumulate ---------------------------------------------------------------------------------===//

/// What comes before a rank's part is the totals of those before it.
struct CumulateTogether : TogetherOpInterface::ExternalModel<CumulateTogether, CumulateOp> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    auto cumulate = cast<CumulateOp>(op);
    Type element = typeOf(cumulate.getInput()).getElementType();
    if (!isExchanged(element) || element.isInteger(1))
      return {};
    return {cutOfFirst(op, along(op, cumulate.getAxis()), along(op, cumulate.getAxis()))};
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto cumulate = cast<CumulateOp>(op);
    unsigned axis = cumulate.getAxis();
    if (!isThrough(cut, axis))
      return {};
    CombinerKind kind = cumulate.getKind();
    bool isReverse = cumulate.getReverse();
    Value part = share.part(cumulate.getInput(), axis);
    Type element = typeOf(part).getElementType();
    Type wide = isFloat(element) ? computeType(element) : element; // rounded once
    if (wide != element)
      part = b.create<ConvertOp>(part, wide);
    Value own = b.create<CumulateOp>(kind, part, axis, cumulate.getExclusive(), isReverse);
    Value total = b.create<ReduceOp>(kind, part, ArrayRef<int64_t>{int64_t(axis)});
    Value totals = besideEachOther(b, total, axis, share.group);
    Value before = b.create<CumulateOp>(kind, totals, axis, /*exclusive=*/true, isReverse);
    before = range(b, before, axis, placeIn(share.group), SymExpr::constant(b.getContext(), 1));
    Value result = combined(b, kind, own, before);
    return {wide != element ? Value(b.create<ConvertOp>(result, element)) : result};
  }
};

//===-- top_k ------------------------------------------------------------------------------------===//

/// Behind all others in their order, whatever they are: a nan is larger than all.
Value furthest(ImplicitLocOpBuilder &b, Type element, bool isSmallest) {
  TypedAttr value;
  if (isFloat(element)) {
    double nan = std::numeric_limits<double>::quiet_NaN();
    value = floatAttribute(element, isSmallest ? nan : -std::numeric_limits<double>::infinity());
  } else {
    Scalar identity = identityScalar(isSmallest ? Combiner::Min : Combiner::Max, element);
    value = b.getIntegerAttr(element, identity.integer);
  }
  return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element),
                          value);
}

/// The largest of each rank's largest. Candidates lie in the order of their positions as far as they are equal. Only the last part with
/// elements may have fewer than it gives candidates: what fills them up is behind all that are equal.
struct TopKTogether : TogetherOpInterface::ExternalModel<TopKTogether, TopKOp> {
  SmallVector<Cut, 4> cutsTogether(Operation *op) const {
    auto top = cast<TopKOp>(op);
    Type element = typeOf(top.getInput()).getElementType();
    if (!isExchanged(element) || element.isInteger(1))
      return {};
    return {cutOfFirst(op, along(op, top.getAxis()), {})};
  }

  SmallVector<Value> computeTogether(Operation *op, ImplicitLocOpBuilder &b, const Cut &cut,
                                     Share &share) const {
    auto top = cast<TopKOp>(op);
    unsigned axis = top.getAxis();
    if (!isThrough(cut, axis))
      return {};
    SymExpr k = top.getK()[0], own = SymExpr::min(k, share.longestPart(top.getInput(), axis));
    Value part = share.part(top.getInput(), axis);
    auto mine =
        b.create<TopKOp>(part, DimsAttr::get(b.getContext(), {own}), axis, top.getSmallest());
    Value zero = sizeValue(b, SymExpr::constant(b.getContext(), 0)),
          none = sizeValue(b, SymExpr::constant(b.getContext(), -1));
    Value isNone = b.create<CompareOp>(CompareKind::Less, mine.getPositions(), zero);
    Type element = typeOf(part).getElementType();
    Value values =
        b.create<SelectOp>(isNone, furthest(b, element, top.getSmallest()), mine.getValues());
    Value begin = sizeValue(b, share.partBegin(top.getInput(), axis));
    Value places = b.create<SelectOp>(isNone, none, b.create<AddOp>(mine.getPositions(), begin));
    Value candidates = joined(b, values, axis, share.group);
    places = joined(b, places, axis, share.group);
    auto best =
        b.create<TopKOp>(candidates, DimsAttr::get(b.getContext(), {k}), axis, top.getSmallest());
    Value isBeyond = b.create<CompareOp>(CompareKind::Less, best.getPositions(), zero);
    Value found = b.create<GatherElementsOp>(places, best.getPositions(), axis, Outside::Clamped);
    found = b.create<SelectOp>(isBeyond, none, found);
    isBeyond = b.create<CompareOp>(CompareKind::Less, found, zero);
    return {b.create<SelectOp>(isBeyond, zeroOf(b, element), best.getValues()), found};
  }

private:
  /// What ranks have one behind the other along a dimension.
  static Value joined(ImplicitLocOpBuilder &b, Value value, unsigned axis, MeshAttr group) {
    SmallVector<SymExpr> dims = typeOf(value).getDims();
    dims[axis] = dims[axis] * group.getRanks();
    return reshaped(b, besideEachOther(b, value, axis, group), dims);
  }
};

} // namespace

void registerOrderTogether(MLIRContext *context) {
  ArgReduceOp::attachInterface<ArgReduceTogether>(*context);
  CumulateOp::attachInterface<CumulateTogether>(*context);
  TopKOp::attachInterface<TopKTogether>(*context);
}

} // namespace weft
