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
  if (!isInWholeVector(i))
    return c->b.create<vector::SplatOp>(c->b.create<LLVM::LoadOp>(type, addressOf(i), 4), vector);
  if (int64_t(vectors.size()) <= nth)
    vectors.resize(nth + 1);
  if (!vectors[nth])
    vectors[nth] = c->b.create<LLVM::LoadOp>(vector, addressOf(nth * lanes), 4);
  return c->b.create<vector::ShuffleOp>(vectors[nth], vectors[nth],
                                        SmallVector<int64_t>(lanes, i % lanes));
}

} // namespace weft
