//===- SpreadRun.cpp - One load per element, or per run of them -----------------------------------------===//

#include "targets/cpu/schedules/tile/SpreadRun.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

bool SpreadRun::isInWholeRun(int64_t i) const {
  int64_t run = c->machine.laneRun();
  return run && i / run * run + run <= count;
}

Value SpreadRun::element(int64_t i, function_ref<Value(int64_t)> addressOf) {
  int64_t lanes = c->machine.lanes(), run = c->machine.laneRun();
  auto load = [&](Type type, int64_t first) -> Value {
    return c->b.create<LLVM::LoadOp>(type, addressOf(first), align);
  };
  if (!isInWholeRun(i))
    return changed(c->b.create<vector::SplatOp>(load(type, i), VectorType::get({lanes}, type)));
  int64_t nth = i / run;
  if (int64_t(runs.size()) <= nth)
    runs.resize(nth + 1);
  if (!runs[nth])
    runs[nth] = changed(load(VectorType::get({run}, type), nth * run));
  return c->b.create<vector::ShuffleOp>(runs[nth], runs[nth], SmallVector<int64_t>(lanes, i % run));
}

} // namespace weft
