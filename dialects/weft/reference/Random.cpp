//===- Random.cpp - Reference semantics of random_uniform ------------------------------------------===//

#include "dialects/weft/ops/Random.h"
#include <random>

using namespace mlir;

namespace weft {

/// The standard library's generator is the same one, seeded in the same way.
LogicalResult RandomUniformOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  if (failed(dims))
    return failure();
  if (call.inputs[0]->kind != Scalar::Integer)
    return call.fail("random numbers from a size");
  std::mt19937 words(uint32_t(call.inputs[0]->integers[0]));
  RefTensor &out = call.outputs.emplace_back(getResult().getType().getElementType(), *dims);
  for (double &each : out.reals) {
    uint64_t high = words() >> 5;
    each = double(high << 26 | words() >> 6) / double(uint64_t(1) << 53);
  }
  return success();
}

} // namespace weft
