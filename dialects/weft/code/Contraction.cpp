//===- Contraction.cpp - Code of contract ------------------------------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

Value ContractOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  Value x = widen(b, e[0], elementOf(getLhs()), getAccumulate()),
        y = widen(b, e[1], elementOf(getRhs()), getAccumulate());
  return isFloat(getAccumulate()) ? Value(b.create<arith::MulFOp>(x, y))
                                  : b.create<arith::MulIOp>(x, y);
}

} // namespace weft
