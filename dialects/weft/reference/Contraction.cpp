//===- Contraction.cpp - Reference semantics of contract ---------------------------------------===//

#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {

Scalar ContractOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  return combineScalars(Combiner::Prod, getLhs().getType().getElementType(), e[0], e[1]);
}

} // namespace weft
