//===- PositionMask.cpp ---------------------------------------------------------------------------===//

#include "passes/quant/PositionMask.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

DimsAttr dimsOf(OpBuilder &b, ArrayRef<SymExpr> dims) {
  return DimsAttr::get(b.getContext(), dims);
}

} // namespace

FailureOr<PositionMask> PositionMask::of(func::FuncOp function, StringRef name) {
  PositionMask mask;
  if (name.empty())
    return mask;
  for (BlockArgument argument : function.getArguments())
    if (auto own = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
        own && own.getValue() == name)
      mask.input = argument;
  if (!mask.input)
    return function.emitError("there is no input '") << name << "' to mask positions with";
  return mask;
}

std::optional<PositionMask::Place> PositionMask::placeIn(SymTensorType type) const {
  if (!input)
    return std::nullopt;
  SmallVector<SymExpr> wanted(typeOf(input).getDims());
  Place place;
  SymExpr all = SymExpr::constant(type.getContext(), 1);
  for (SymExpr dim : wanted)
    all = all * dim;
  size_t found = 0;
  SmallVector<SymExpr> dims(type.getDims());
  for (SymExpr dim : dims) {
    place.isMasked.push_back(found < wanted.size() && dim == wanted[found]);
    found += place.isMasked.back();
  }
  if (found == wanted.size())
    return found > 0 && found < dims.size() ? std::optional(place) : std::nullopt;
  for (auto [d, dim] : llvm::enumerate(dims))
    if (wanted.size() > 1 && dims.size() > 1 && dim == all) {
      place.isMasked.assign(type.getRank(), false);
      place.isMasked[d] = place.isFlat = true;
      return place;
    }
  return std::nullopt;
}

bool PositionMask::covers(Value value) const { return placeIn(typeOf(value)).has_value(); }

Value PositionMask::applied(ImplicitLocOpBuilder &b, Value value) const {
  std::optional<Place> place = placeIn(typeOf(value));
  if (!place)
    return value;
  SmallVector<SymExpr> spread;
  for (auto [d, isMasked] : llvm::enumerate(place->isMasked))
    spread.push_back(isMasked ? typeOf(value).getDim(d) : SymExpr::constant(b.getContext(), 1));
  Value counts = b.create<ConvertOp>(input, b.getI1Type());
  Value where = b.create<ReshapeOp>(counts, dimsOf(b, spread));
  auto scalar = SymTensorType::get(ArrayRef<SymExpr>(), b.getF32Type());
  return b.create<SelectOp>(where, value, b.create<FillOp>(scalar, b.getF32FloatAttr(0)));
}

Value PositionMask::rows(ImplicitLocOpBuilder &b, Value value,
                         std::optional<unsigned> channel) const {
  std::optional<Place> place = placeIn(typeOf(value));
  SymExpr others = SymExpr::constant(b.getContext(), 1);
  for (unsigned d = 0; d < typeOf(value).getRank(); ++d)
    if (d != channel && !(place && place->isMasked[d]))
      others = others * typeOf(value).getDim(d);
  auto count = SymTensorType::get(ArrayRef<SymExpr>(), b.getI64Type());
  Value rest = b.create<DimsValueOp>(count, dimsOf(b, {others}));
  if (!place)
    return rest;
  Value counts = b.create<ConvertOp>(b.create<ConvertOp>(input, b.getI1Type()), b.getI64Type());
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(typeOf(input).getRank())));
  return b.create<MulOp>(b.create<ReduceOp>(CombinerKind::Sum, counts, all), rest);
}

} // namespace weft
