//===- Parts.cpp ----------------------------------------------------------------------------------===//

#include "passes/parallel/Parts.h"
#include "dialects/symbolic/Multiples.h"
#include "dialects/weft/ops/Collective.h"
#include "passes/quant/NodeNames.h"

using namespace mlir;

namespace weft {
namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

DimsAttr dimsOf(SymTensorType type) { return DimsAttr::get(type.getContext(), type.getDims()); }

OpBuilder behind(Value value) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return builder;
}

std::string makerOf(Value value) {
  return value.getDefiningOp() ? nameOf(value.getDefiningOp()) : "an input";
}

} // namespace

std::string nameOf(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return "the caller";
  SmallVector<std::string, 1> names = nodeNames(op->getLoc());
  return "'" + (names.empty() ? op->getName().getStringRef().str() : names.front()) + "'";
}

//===-- What is at hand --------------------------------------------------------------------------===//

Parts::Held &Parts::heldFor(Value value) {
  auto [found, isNew] = held.try_emplace(value);
  if (isNew) // not made by ranks in parts: everybody has all of it
    found->second.whole = value;
  return found->second;
}

void Parts::holdWhole(Value value, Value made) {
  Held &has = held[value] = Held();
  has.whole = made;
}

void Parts::holdPart(Value value, unsigned dim, Value made) {
  Held &has = held[value] = Held();
  has.made = dim;
  has.parts[dim] = made;
}

void Parts::holdAs(Value value, Wish wish) {
  if (wish.isOpen || isa<BlockArgument>(value) || isa<ConstantOp>(value.getDefiningOp()))
    return; // everybody has all of those all the same
  Operation *maker = value.getDefiningOp();
  if (wish.dim) {
    Value own = part(value, *wish.dim, maker), all = heldFor(value).whole;
    holdPart(value, *wish.dim, own);
    held[value].whole = all; // what all have computed need not be gathered
  } else
    holdWhole(value, whole(value, maker));
}

void Parts::explain(Operation *exchange, const Twine &reason) {
  exchange->setAttr(kBecauseAttr, StringAttr::get(exchange->getContext(), reason));
  ++exchanges;
}

//===-- Sizes and shapes -------------------------------------------------------------------------===//

Parts::Units Parts::unitsOf(Value value, unsigned dim) const {
  SymExpr unit = assignment.unitOf(value, dim), extent = typeOf(value).getDim(dim),
          count = exactQuotient(extent, unit);
  return count ? Units{count, unit} : Units{extent, SymExpr::constant(value.getContext(), 1)};
}

SymTensorType Parts::partType(Value value, unsigned dim) const {
  SmallVector<SymExpr> dims = typeOf(value).getDims();
  Units units = unitsOf(value, dim);
  dims[dim] = partSize(units.count, group.getRanks(), placeIn(group)) * units.unit;
  return SymTensorType::get(dims, typeOf(value).getElementType());
}

SymExpr Parts::beginOf(Value value, unsigned dim) const {
  Units units = unitsOf(value, dim);
  return partBegin(units.count, group.getRanks(), placeIn(group)) * units.unit;
}

SymExpr Parts::longestOf(Value value, unsigned dim) const {
  Units units = unitsOf(value, dim);
  return SymExpr::ceildiv(units.count, group.getRanks()) * units.unit;
}

SymExpr Parts::pieceOf(Value value, unsigned dim, int64_t pieces) const {
  Units units = unitsOf(value, dim);
  return SymExpr::ceildiv(units.count, group.getRanks() * pieces) * units.unit;
}

/// Dimensions that are cut between units become two: how many units, and one of them.
Value Parts::apart(OpBuilder &builder, Value value, Value made, ArrayRef<unsigned> at) {
  SmallVector<SymExpr> dims;
  for (auto [d, dim] : llvm::enumerate(typeOf(made).getDims())) {
    SymExpr unit = unitsOf(value, d).unit;
    bool isApart = llvm::is_contained(at, d) && !unit.isConstant(1);
    dims.push_back(isApart ? exactQuotient(dim, unit) : dim);
    if (isApart)
      dims.push_back(unit);
  }
  if (dims.size() == typeOf(made).getRank())
    return made;
  return builder.create<ReshapeOp>(made.getLoc(), made, DimsAttr::get(made.getContext(), dims));
}

unsigned Parts::apartDim(Value value, unsigned dim, ArrayRef<unsigned> at) const {
  return dim + llvm::count_if(at, [&](unsigned other) {
           return other < dim && !unitsOf(value, other).unit.isConstant(1);
         });
}

Value Parts::together(OpBuilder &builder, Value exchanged, SymTensorType type) {
  return exchanged.getType() == type
             ? exchanged
             : builder.create<ReshapeOp>(exchanged.getLoc(), exchanged, dimsOf(type));
}

//===-- What is made of it -----------------------------------------------------------------------===//

Value Parts::whole(Value value, Operation *reader) {
  Held &has = heldFor(value);
  if (has.whole)
    return has.whole;
  unsigned dim = *has.made;
  Value made = has.parts[dim];
  OpBuilder builder = behind(made);
  Value parts = apart(builder, value, made, {dim});
  auto gather = builder.create<AllGatherOp>(
      made.getLoc(), parts, dim, DimsAttr::get(value.getContext(), {unitsOf(value, dim).count}),
      group);
  explain(gather, nameOf(reader) + " needs all of what " + makerOf(value) + " gives in parts");
  has.whole = together(builder, gather, typeOf(value));
  return has.whole;
}

Value Parts::slice(Value value, unsigned dim, Value whole) {
  MLIRContext *context = value.getContext();
  SymTensorType type = partType(value, dim);
  SmallVector<SymExpr> starts(type.getRank(), SymExpr::constant(context, 0));
  SmallVector<int64_t> steps(type.getRank(), 1);
  starts[dim] = beginOf(value, dim);
  OpBuilder builder = behind(whole);
  Operation *part;
  if (auto fill = whole.getDefiningOp<FillOp>()) // kernels know zero points that are one number
    part = builder.create<FillOp>(whole.getLoc(), type, fill.getValue());
  else
    part = builder.create<SliceOp>(whole.getLoc(), whole, DimsAttr::get(context, starts),
                                   dimsOf(type), steps);
  StringAttr axis = group.getAxes()[0];
  if (wishFor(value, axis).dim == dim) // other axes cut the part
    if (PlacementAttr rest = placementOf(value).without(axis))
      part->setAttr(kPlacementAttr, rest);
  return part->getResult(0);
}

Value Parts::part(Value value, unsigned dim, Operation *reader) {
  Held &has = heldFor(value);
  if (Value found = has.parts.lookup(dim))
    return found;
  if (has.whole)
    return has.parts[dim] = slice(value, dim, has.whole);
  unsigned from = *has.made;
  Value made = has.parts[from];
  OpBuilder builder = behind(made);
  unsigned at[] = {from, dim};
  Value parts = apart(builder, value, made, at);
  auto exchange = builder.create<AllToAllOp>(
      made.getLoc(), parts, apartDim(value, dim, at), apartDim(value, from, at),
      DimsAttr::get(value.getContext(), {unitsOf(value, from).count}), group);
  explain(exchange, nameOf(reader) + " needs parts along dimension " + Twine(dim) + ", but " +
                        makerOf(value) + " gives them along " + Twine(from));
  return has.parts[dim] = together(builder, exchange, partType(value, dim));
}

void Parts::holdPartial(Value value, Combiner combiner, Value made) {
  auto kind = CombinerKind(combiner);
  Wish wish = wishFor(value, group.getAxes()[0]);
  std::optional<unsigned> dim = wish.isOpen ? assignment.wantedBy(value) : wish.dim;
  OpBuilder builder = behind(made);
  std::string reason = nameOf(value.getDefiningOp()) + " combines along a dimension of parts";
  if (!dim) {
    auto sum = builder.create<AllReduceOp>(made.getLoc(), kind, made, group);
    explain(sum, reason);
    return holdWhole(value, sum);
  }
  Value parts = apart(builder, value, made, {*dim});
  auto sum = builder.create<ReduceScatterOp>(made.getLoc(), kind, parts, *dim, group);
  explain(sum, reason);
  holdPart(value, *dim, together(builder, sum, partType(value, *dim)));
}

} // namespace weft
