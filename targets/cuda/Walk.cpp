//===- Walk.cpp ---------------------------------------------------------------------------------------===//

#include "targets/cuda/Walk.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft {

int64_t loadsOnTheWay(int64_t bytes) {
  constexpr int64_t wanted = 64;
  return std::clamp<int64_t>(wanted / std::max<int64_t>(bytes, 1), 2, 8);
}

/// As long as there are `together` positions. The next one is carried behind the state.
static Values run(SimtKernel &k, ValueRange carried, const Walk &walk, const WalkSteps &steps) {
  ImplicitLocOpBuilder &b = k.b;
  Value stride = k.mul(walk.step, constantI64(b, walk.together));
  Value end = k.sub(walk.to, k.mul(walk.step, constantI64(b, walk.together - 1)));
  auto loop = b.create<scf::ForOp>(carried.back(), end, stride, carried);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  k.e.forget();
  Values positions{loop.getInductionVar()};
  for (int64_t i = 1; i < walk.together; ++i)
    positions.push_back(k.add(positions.back(), walk.step));
  SmallVector<Values> loaded;
  for (Value position : positions)
    loaded.push_back(steps.load(position));
  Values state(loop.getRegionIterArgs().drop_back());
  for (auto [position, elements] : llvm::zip_equal(positions, loaded))
    state = steps.add(state, elements, position);
  k.e.forget();
  state.push_back(k.add(positions.front(), stride));
  b.create<scf::YieldOp>(state);
  return Values(loop.getResults());
}

Values walk(SimtKernel &k, ValueRange state, Walk walk, WalkSteps steps) {
  Values carried(state);
  carried.push_back(walk.from);
  if (walk.together > 1)
    carried = run(k, carried, walk, steps);
  walk.together = 1;
  carried = run(k, carried, walk, steps);
  carried.pop_back();
  return carried;
}

} // namespace weft
