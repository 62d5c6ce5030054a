//===- Contraction.cpp - contract: types -------------------------------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type lhs = elementOf(adaptor.getLhs()), rhs = elementOf(adaptor.getRhs());
  bool areIntegers = isa<IntegerType>(lhs) && isa<IntegerType>(rhs) && elementBits(rhs) <= 8 &&
                     (elementBits(lhs) <= 8 || (lhs.isSignlessInteger(16) && !isUnsigned(rhs)));
  if (lhs != rhs && !areIntegers) // R1
    return refuseBeside(location, adaptor.getRhs(), "rhs",
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

} // namespace weft
