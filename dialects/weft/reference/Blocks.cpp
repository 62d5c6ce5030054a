//===- Blocks.cpp - Reference semantics of dequantize_blocks -----------------------------------===//

#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/reference/Walk.h"

using namespace mlir;

namespace weft {

LogicalResult DequantizeBlocksOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0], &scale = *call.inputs[1],
                  *zero = call.inputs.size() > 2 ? call.inputs[2] : nullptr;
  if (in.kind == Scalar::Symbolic || (zero && zero->kind == Scalar::Symbolic))
    return call.fail("dequantisation of symbolic values");
  RefTensor &out = call.outputs.emplace_back(elementOf(getResult()), in.dims);
  int64_t i = 0;
  forBox(in.dims, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> of(index);
    of[getAxis()] /= getBlock();
    double value = in.at(i).asReal();
    if (zero)
      value -= zero->at(rowMajor(of, zero->dims)).asReal();
    out.set(i++, Scalar::of(value * scale.at(rowMajor(of, scale.dims)).asReal()));
  });
  return success();
}

} // namespace weft
