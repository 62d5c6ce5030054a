//===- Together.cpp - What shares are built of ------------------------------------------------------===//

#include "dialects/weft/ranks/Together.h"
#include "dialects/weft/ops/Collective.h"

using namespace mlir;

#include "dialects/weft/TogetherInterface.cpp.inc"

namespace weft {

static SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

void registerTogether(MLIRContext *context) {
  registerIndexTogether(context);
  registerOrderTogether(context);
  registerWindowTogether(context);
}

Cut cutOfFirst(Operation *op, Cut::Dim from, std::optional<Cut::Dim> to) {
  Cut cut;
  cut.operands.assign(op->getNumOperands(), std::nullopt);
  cut.operands[0] = from;
  cut.results.assign(op->getNumResults(), to);
  return cut;
}

bool isThrough(const Cut &cut, unsigned dim) {
  return cut.operands[0] && cut.operands[0]->dim == dim;
}

bool isExchanged(Type element) {
  return isFloat(element) ? elementBits(element) >= 16 : !isPacked(element);
}

Value reshaped(ImplicitLocOpBuilder &b, Value value, ArrayRef<SymExpr> dims) {
  return b.create<ReshapeOp>(value, DimsAttr::get(b.getContext(), dims));
}

Value withDimOfOne(ImplicitLocOpBuilder &b, Value value, unsigned dim) {
  SmallVector<SymExpr> dims = typeOf(value).getDims();
  dims.insert(dims.begin() + dim, SymExpr::constant(b.getContext(), 1));
  return reshaped(b, value, dims);
}

Value besideEachOther(ImplicitLocOpBuilder &b, Value value, unsigned dim, MeshAttr group) {
  SymExpr ranks = SymExpr::constant(b.getContext(), group.getRanks());
  return b.create<AllGatherOp>(withDimOfOne(b, value, dim), dim,
                               DimsAttr::get(b.getContext(), {ranks}), group);
}

Value range(ImplicitLocOpBuilder &b, Value value, unsigned dim, SymExpr start, SymExpr size) {
  SmallVector<SymExpr> sizes = typeOf(value).getDims(),
                       starts(sizes.size(), SymExpr::constant(b.getContext(), 0));
  starts[dim] = start;
  sizes[dim] = size;
  return b.create<SliceOp>(value, DimsAttr::get(b.getContext(), starts),
                           DimsAttr::get(b.getContext(), sizes),
                           SmallVector<int64_t>(sizes.size(), 1));
}

Value widened(ImplicitLocOpBuilder &b, Value value, unsigned dim, SymExpr low, SymExpr high,
              Value with) {
  SmallVector<SymExpr> lows(typeOf(value).getRank(), SymExpr::constant(b.getContext(), 0)),
      highs = lows;
  lows[dim] = low;
  highs[dim] = high;
  return b.create<PadOp>(value, with, DimsAttr::get(b.getContext(), lows),
                         DimsAttr::get(b.getContext(), highs));
}

Value sizeValue(ImplicitLocOpBuilder &b, SymExpr value) {
  auto scalar = SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), b.getI64Type());
  return b.create<DimsValueOp>(scalar, DimsAttr::get(b.getContext(), {value}));
}

Value zeroOf(ImplicitLocOpBuilder &b, Type element) {
  TypedAttr zero = isFloat(element) ? TypedAttr(floatAttribute(element, 0))
                                    : TypedAttr(b.getIntegerAttr(element, 0));
  return b.create<FillOp>(SymTensorType::get(b.getContext(), ArrayRef<Attribute>(), element), zero);
}

Operation *partOf(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands, Type result,
                  ArrayRef<NamedAttribute> attributes) {
  Operation *part = b.clone(*op);
  part->setOperands(operands);
  part->getResult(0).setType(result);
  for (NamedAttribute attribute : attributes)
    part->setAttr(attribute.getName(), attribute.getValue());
  SmallVector<Type> inferred;
  if (succeeded(cast<InferTypeOpInterface>(part).inferReturnTypes(
          b.getContext(), std::nullopt, part->getOperands(), part->getAttrDictionary(),
          part->getPropertiesStorage(), part->getRegions(), inferred)) &&
      inferred[0] == result)
    return part;
  part->erase();
  return nullptr;
}

} // namespace weft
