//===- Blocks.cpp - Code of dequantize_blocks --------------------------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

static Value toF32(ElementBuilder &e, Value x, Type element) {
  auto &b = e.builder();
  Type type = e.laneType(b.getF32Type());
  if (element.isF64())
    return b.create<arith::TruncFOp>(type, x);
  if (isFloat(element))
    return x;
  return isUnsigned(element) ? Value(b.create<arith::UIToFPOp>(type, x))
                             : b.create<arith::SIToFPOp>(type, x);
}

Value DequantizeBlocksOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto &b = e.builder();
  SmallVector<IndexValue> of(index);
  of[getAxis()] = e.divmod(index[getAxis()], e.constant(getBlock())).first;
  Value value = toF32(e, e.operand(0, index), elementOf(getInput()));
  if (getZero())
    value = b.create<arith::SubFOp>(value, toF32(e, e.operand(2, of), elementOf(getZero())));
  return b.create<arith::MulFOp>(value, toF32(e, e.operand(1, of), elementOf(getScale())));
}

} // namespace weft
