//===- Contraction.cpp - contract ---------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type lhs = elementOf(adaptor.getLhs()), rhs = elementOf(adaptor.getRhs());
  bool bytes = lhs.isIntOrFloat() && rhs.isIntOrFloat() && isa<IntegerType>(lhs) &&
               isa<IntegerType>(rhs) && elementBits(lhs) <= 8 && elementBits(rhs) <= 8;
  if (lhs != rhs && !bytes) // R1
    return emitOptionalError(location,
                             "'weft.contract' operands must have one element type, but are ", lhs,
                             " and ", rhs);
  if (failed(verifyAccumulate("contract", location, lhs, adaptor.getAccumulate()))) // R2
    return failure();
  if (adaptor.getRule().split("->").second.contains(','))
    return emitOptionalError(location, "'weft.contract': the rule must have one result");
  auto dims = inferDims(adaptor.getRule(), adaptor.getOperands().getTypes(), location, "contract");
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(lhs.getContext(),
                                       DimsAttr::get(lhs.getContext(), *dims).getDimAttributes(),
                                       adaptor.getAccumulate()));
  return success();
}

RootKind ContractOp::rootKind() { return RootKind::Contraction; }

Scalar ContractOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  return combineScalars(Combiner::Prod, getLhs().getType().getElementType(), e[0], e[1]);
}

/// An element in the accumulation type.
static Value widen(ImplicitLocOpBuilder &b, Value x, Type from, Type accumulate) {
  Type scalar = computeType(accumulate), type = scalar;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    type = vector.clone(scalar);
  if (x.getType() == type)
    return x;
  if (isFloat(from))
    return b.create<arith::ExtFOp>(type, x);
  return isUnsigned(from) ? Value(b.create<arith::ExtUIOp>(type, x))
                          : b.create<arith::ExtSIOp>(type, x);
}

Value ContractOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Value x = widen(b, e[0], elementOf(getLhs()), getAccumulate()),
        y = widen(b, e[1], elementOf(getRhs()), getAccumulate());
  return isFloat(getAccumulate()) ? Value(b.create<arith::MulFOp>(x, y))
                                  : b.create<arith::MulIOp>(x, y);
}

} // namespace weft
