//===- Random.cpp - random_uniform: checks -----------------------------------------------------===//

#include "dialects/weft/ops/Random.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult RandomUniformOp::verify() {
  auto seed = tensorType(getSeed());
  if (!seed.getElementType().isInteger(64) || seed.getElementType().isUnsignedInteger() ||
      seed.getRank() != 0) // R1
    return emitOpError("needs one i64 as its seed, but has ") << seed;
  if (!elementOf(getResult()).isF64()) // R2
    return emitOpError("gives f64, but its type is ") << tensorType(getResult());
  return success();
}

RootKind RandomUniformOp::rootKind() { return RootKind::Serial; }

SymExpr RandomUniformOp::serialScratch() { return SymExpr::constant(getContext(), kRandomWords); }

} // namespace weft

#define GET_OP_CLASSES
#include "dialects/weft/RandomOps.cpp.inc"
