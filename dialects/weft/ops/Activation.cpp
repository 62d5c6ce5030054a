//===- Activation.cpp - activation: types ------------------------------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return requireReal("activation", location, adaptor.getInput());
}

} // namespace weft
