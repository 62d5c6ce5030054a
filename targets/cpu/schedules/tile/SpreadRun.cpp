//===- SpreadRun.cpp - One load per element, or per vector of them --------------------------------------===//

#include "targets/cpu/schedules/tile/SpreadRun.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

bool SpreadRun::isInWholeVector(int64_t i) const {
  int64_t lanes = c->machine.lanes();
  return c->machine.multipliesByLane() && i / lanes * lanes + lanes <= count;
}

Value SpreadRun::element(int64_t i, function_ref<Value(int64_t)> addressOf) {
  int64_t lanes = c->machine.lanes(), nth = i / lanes;
  auto vector = VectorType::get({lanes}, type);
  auto load = [&](Type type, int64_t first) -> Value {
    return c->b.create<LLVM::LoadOp>(type, addressOf(first), align);
  };
  if (!isInWholeVector(i))
    return changed(c->b.create<vector::SplatOp>(load(type, i), vector));
  if (int64_t(vectors.size()) <= nth)
    vectors.resize(nth + 1);
  if (!vectors[nth])
    vectors[nth] = changed(load(vector, nth * lanes));
  return c->b.create<vector::ShuffleOp>(vectors[nth], vectors[nth],
                                        SmallVector<int64_t>(lanes, i % lanes));
}

} // namespace weft
