//===- Control.cpp - bind, if and loop -----------------------------------------------------------===//

#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {
namespace {

bool isCondition(Type type) {
  auto tensor = dyn_cast<SymTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1) && tensor.getElements().isConstant(1);
}

/// Giving a symbol its value is an effect: what reads the symbol is no reader of a result.
void addBindingEffect(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!cast<HostOpInterface>(op).symbolsAfter().empty())
    effects.emplace_back(MemoryEffects::Write::get());
}

/// With a note at the end of the region.
LogicalResult refuseYielded(Operation *end, StringRef what, InFlightDiagnostic error) {
  error.attachNote(end->getLoc()) << what;
  return error;
}

} // namespace

//===-- bind -------------------------------------------------------------------------------------===//

SmallVector<StringAttr, 1> BindOp::symbolsAfter() { return {getSymbolAttr()}; }

LogicalResult BindOp::verify() {
  auto type = getValue().getType();
  if (!type.getElements().isConstant(1) ||
      !(type.getElementType().isInteger(64) || type.getElementType().isInteger(32))) // R1
    return emitOpError("needs one integer of 32 or 64 bits, but the operand is ") << type;
  return success();
}

//===-- check_positions --------------------------------------------------------------------------===//

LogicalResult CheckPositionsOp::verify() {
  auto type = getPositions().getType();
  Type element = type.getElementType();
  if (!element.isSignlessInteger(64) && !element.isSignlessInteger(32)) // R1
    return emitOpError("needs integers of 32 or 64 bits, but the operand is ") << type;
  unsigned count = getSizes().size(), rank = type.getRank();
  if (count == 1 || (count > 1 && rank > 0 && type.getDim(rank - 1).isConstant(count))) // R2
    return success();
  return emitOpError("has ") << count << " sizes for positions " << type;
}

//===-- if ---------------------------------------------------------------------------------------===//

SmallVector<StringAttr, 1> namesIn(ArrayAttr names) {
  SmallVector<StringAttr, 1> list;
  for (Attribute each : names)
    if (auto name = dyn_cast<StringAttr>(each))
      list.push_back(name);
  return list;
}

SmallVector<StringAttr, 1> IfOp::symbolsAfter() { return namesIn(getBinds()); }

void IfOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addBindingEffect(*this, effects);
}

SmallVector<SymExpr> IfOp::boundDims(ValueRange yielded) {
  SmallVector<SymExpr> dims(getBinds().size());
  for (auto [result, value] : llvm::zip(getResults(), yielded))
    for (auto [want, have] : llvm::zip(cast<SymTensorType>(result.getType()).getDims(),
                                       cast<SymTensorType>(value.getType()).getDims()))
      for (auto [i, name] : llvm::enumerate(getBinds()))
        if (want.asSymbol() == name && !dims[i])
          dims[i] = have;
  return dims;
}

LogicalResult IfOp::verify() {
  if (!isCondition(getCondition().getType())) // R1
    return emitOpError("needs one i1 as condition, but has ") << getCondition().getType();
  for (Region *region : {&getYes(), &getNo()}) {
    Operation *end = region->front().getTerminator();
    if (!isa<YieldOp>(end))
      return emitOpError("needs regions that end with 'weft.yield'");
    bool fits = end->getNumOperands() == getNumResults();
    for (unsigned i = 0; fits && i < getNumResults(); ++i) {
      auto have = cast<SymTensorType>(end->getOperand(i).getType()),
           want = cast<SymTensorType>(getResult(i).getType());
      fits = have.getElementType() == want.getElementType() && have.getRank() == want.getRank();
    }
    if (!fits)
      return emitOpError("yields other numbers, ranks or elements than its results have");
    SmallVector<SymExpr> bound = boundDims(end->getOperands());
    if (llvm::is_contained(bound, SymExpr())) // R3
      return emitOpError("binds a symbol that is no dimension of a result");
    SymMap map;
    for (auto [name, dim] : llvm::zip(getBinds(), bound))
      map[cast<StringAttr>(name)] = dim;
    for (auto [i, value] : llvm::enumerate(end->getOperands())) // R2
      for (auto [want, have] : llvm::zip(cast<SymTensorType>(getResult(i).getType()).getDims(),
                                         cast<SymTensorType>(value.getType()).getDims()))
        if (want.substitute(map) != have)
          return refuseYielded(end, "it is yielded here",
                               emitOpError("yields ") << value.getType() << " for the result "
                                                      << getResult(i).getType());
  }
  return success();
}

//===-- loop -------------------------------------------------------------------------------------===//

SmallVector<StringAttr, 1> LoopOp::symbolsInside() { return {getIndexAttr()}; }

void LoopOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addBindingEffect(*this, effects);
}

SmallVector<StringAttr, 1> LoopOp::symbolsAfter() {
  return isConditional() ? SmallVector<StringAttr, 1>{getCountAttr()}
                         : SmallVector<StringAttr, 1>();
}

SymExpr LoopOp::times() {
  return isConditional() ? SymExpr::symbol(getCountAttr()) : getTrips()[0];
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  if (getTrips().size() != 1)
    return emitOpError("needs one number of trips");
  if (!isa<YieldOp>(body.getTerminator()))
    return emitOpError("needs a region that ends with 'weft.yield'");
  if (isConditional() && (getInits().empty() || !isCondition(getInits()[0].getType()) ||
                          body.getTerminator()->getNumOperands() == 0 ||
                          !isCondition(body.getTerminator()->getOperand(0).getType()))) // R3
    return emitOpError(
        "with 'count' needs a condition as first operand and as first yielded value");
  size_t carried = carriedInits().size();
  if (yielded().size() != getNumResults() || getNumResults() < carried ||
      body.getNumArguments() != carried)
    return emitOpError("has ") << carried << " carried values, but " << body.getNumArguments()
                               << " arguments, " << yielded().size() << " yielded values and "
                               << getNumResults() << " results";
  for (size_t i = 0; i < carried; ++i) { // R1
    Type type = carriedInits()[i].getType();
    for (Type other :
         {body.getArgument(i).getType(), yielded()[i].getType(), getResult(i).getType()})
      if (other != type)
        return refuseYielded(body.getTerminator(), "the next value is yielded here",
                             emitOpError("carries ") << type << ", which becomes " << other);
  }
  for (size_t i = carried; i < getNumResults(); ++i) { // R2
    auto each = cast<SymTensorType>(yielded()[i].getType()),
         all = cast<SymTensorType>(getResult(i).getType());
    SmallVector<SymExpr> dims = each.getDims();
    dims.insert(dims.begin(), times());
    if (all != SymTensorType::get(dims, each.getElementType()))
      return refuseYielded(body.getTerminator(), "each of them is yielded here",
                           emitOpError("stacks ")
                               << each << " to " << all << ", which needs the first dimension '"
                               << times().str() << "'");
  }
  return success();
}

} // namespace weft
