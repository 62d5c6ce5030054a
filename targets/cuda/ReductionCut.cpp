//===- ReductionCut.cpp -------------------------------------------------------------------------------===//

#include "targets/cuda/ReductionCut.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {

/// Blocks that keep a large device busy; parts have so many elements at least, and there are two or more of so many.
static constexpr int64_t kMostBlocks = 528, kLeastPart = 16384, kLeastParted = 65536;
static constexpr int64_t kWarp = SimtMachine::kWarp;

SymExpr elementsOf(MLIRContext *context, ArrayRef<SymExpr> dims) {
  SymExpr all = SymExpr::constant(context, 1);
  for (SymExpr dim : dims)
    all = all * dim;
  return all;
}

ReductionCut::ReductionCut(func::FuncOp spec, const ReductionShape &shape)
    : context(spec.getContext()), shape(shape), lanes(streamLanes(spec, shape.input)),
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

SymExpr ReductionCut::parts() const {
  SymExpr work = combined;
  if (!shape.isAlongLines())
    work = work * SymExpr::min(shape.keptDims.back(), number(groupColumns()));
  SymExpr beyond = SymExpr::floordiv(work, kLeastPart) - number(kLeastParted / kLeastPart - 2);
  return BlockParts::countOf(groups(), beyond, kMostBlocks);
}

/// Threads go on where lines have more chunks than that, as they do where elements cannot be taken together.
SymExpr ReductionCut::lineBlocks() const {
  auto atMostOne = [&](SymExpr expr) { return SymExpr::min(expr, number(1)); };
  SymExpr chunks = SymExpr::ceildiv(combined, int64_t(lanes));
  SymExpr threads = SymExpr::max(SymExpr::min(chunks, number(kWarp)), number(1));
  SymExpr isLong = atMostOne(SymExpr::floordiv(combined, kWarpsChunks * int64_t(lanes) + 1));
  SymExpr blocks = SymExpr::max(SymExpr::ceildiv(results * threads, kThreads),
                                SymExpr::min(results, number(kManyLines)) * isLong);
  return SymExpr::max(blocks, results * parts() * atMostOne(parts() - number(1)));
}

SymExpr ReductionCut::blocks() const {
  return shape.isAlongLines() ? lineBlocks() : groups() * parts();
}

int64_t ReductionCut::partBytes() const {
  return fieldBytes() * (isa<ArgReduceOp>(shape.root) ? 2 : 1);
}

SymExpr ReductionCut::scratch() const {
  return BlockParts::scratchOf(groups(), parts(), partBytes(), kMostBlocks);
}

} // namespace weft
