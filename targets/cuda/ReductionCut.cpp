//===- ReductionCut.cpp -------------------------------------------------------------------------------===//

#include "targets/cuda/ReductionCut.h"
#include "targets/cuda/LineThreads.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

/// Blocks that keep a multiprocessor busy; parts have so many elements at least, and there are two or more of so many.
static constexpr int64_t kBlocksOfEach = 4, kLeastPart = 16384, kLeastParted = 65536;
static constexpr int64_t kWarp = SimtMachine::kWarp;

SymExpr elementsOf(MLIRContext *context, ArrayRef<SymExpr> dims) {
  SymExpr all = SymExpr::constant(context, 1);
  for (SymExpr dim : dims)
    all = all * dim;
  return all;
}

ReductionCut::ReductionCut(func::FuncOp spec, const ReductionShape &shape,
                           const SimtMachine &machine)
    : context(spec.getContext()), shape(shape), machine(machine),
      mostBlocks(kBlocksOfEach * machine.multiprocessors), lanes(streamLanes(spec, shape.input)),
      results(elementsOf(context, shape.keptDims)),
      combined(elementsOf(context, shape.reducedDims)) {
  if (!shape.isAlongLines() && isa<ArgReduceOp>(shape.root))
    lanes = std::min(lanes, 4u); // places are wide
}

int64_t ReductionCut::groupColumns() const {
  return shape.isAlongLines() ? 1 : kWarp * int64_t(lanes);
}

SymExpr ReductionCut::groupsBeside() const {
  return SymExpr::ceildiv(shape.keptDims.back(), groupColumns());
}

SymExpr ReductionCut::groups() const {
  if (shape.isAlongLines())
    return results;
  return elementsOf(context, ArrayRef(shape.keptDims).drop_back()) * groupsBeside();
}

/// Of a group, as far as its elements go.
SymExpr ReductionCut::mostParts() const {
  SymExpr work = combined;
  if (!shape.isAlongLines())
    work = work * SymExpr::min(shape.keptDims.back(), number(groupColumns()));
  return SymExpr::floordiv(work, kLeastPart) - number(kLeastParted / kLeastPart - 2);
}

SymExpr ReductionCut::parts() const {
  return BlockParts::countOf(groups(), mostParts(), mostBlocks);
}

/// As many as all parts together, or more: a product of all parts of all groups would be a formula of many pages where dimensions are sums. Blocks that are too
/// many end at once.
SymExpr ReductionCut::sharedBlocks() const {
  if (!isParted())
    return number(0);
  SymExpr others = SymExpr::max(mostParts() - number(1), number(0));
  return SymExpr::min(groups() * (others + SymExpr::min(others, number(1))), number(mostBlocks));
}

SymExpr ReductionCut::blocks() const {
  LineGrid grid{int64_t(lanes), kThreads, kWarpsChunks, kManyLines};
  SymExpr own = shape.isAlongLines() ? lineBlocks(results, combined, grid, machine) : groups();
  return SymExpr::max(own, sharedBlocks());
}

int64_t ReductionCut::partBytes() const {
  return fieldBytes() * (isa<ArgReduceOp>(shape.root) ? 2 : 1);
}

SymExpr ReductionCut::scratch() const { return sharedBlocks() * partBytes(); }

} // namespace weft
