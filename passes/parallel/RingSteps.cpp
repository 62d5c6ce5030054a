//===- RingSteps.cpp ------------------------------------------------------------------------------===//

#include "passes/parallel/RingSteps.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

/// 1 where the expression is at least 1, else 0.
static SymExpr isPositive(SymExpr expr) {
  return SymExpr::min(SymExpr::constant(expr.getContext(), 1), SymExpr::pos(expr));
}

RingSteps::RingSteps(Value scores, const Spans &spans, const Blocks &blocks, MeshAttr group,
                     const SymFacts &facts)
    : group(group), steps(group.getRanks()) {
  int64_t ranks = group.getRanks();
  SymTensorType type = tensorType(scores);
  SymExpr keys = type.getDims().back();
  length = SymExpr::ceildiv(keys, ranks);
  hidden.assign(ranks, Hidden(ranks, kNeverHidden));
  if (keys != type.getDim(llvm::find(spans, Span::Rows) - spans.begin()))
    return; // parts begin elsewhere
  least = std::max<int64_t>(1, (facts.bounds(keys).low.value_or(0) + ranks - 1) / ranks);
  HiddenBlocks mask(blocks);
  for (int64_t step = 0; step < ranks; ++step)
    for (int64_t place = 0; place < ranks; ++place)
      hidden[step][place] =
          mask.from(scores, spans, {place, 0, 1}, {(place + ranks - step) % ranks, 0, 1}, least);
  while (steps > 1 && llvm::all_of(hidden[steps - 1], [&](int64_t from) { return from <= least; }))
    --steps;
}

/// 1 at places from `first` to `last`.
SymExpr RingSteps::among(int64_t first, int64_t last) const {
  SymExpr place = placeIn(group), is = SymExpr::constant(place.getContext(), 1);
  if (first > 0)
    is = isPositive(place - (first - 1));
  return last + 1 < group.getRanks() ? is * isPositive(-place + (last + 1)) : is;
}

SymExpr RingSteps::seenWhere(const Hidden &from) const {
  SymExpr seen = SymExpr::constant(length.getContext(), 0);
  for (size_t first = 0, end; first < from.size(); first = end) {
    for (end = first + 1; end < from.size() && from[end] == from[first];)
      ++end;
    if (from[first] <= least)
      continue;
    SymExpr is = among(first, end - 1);
    seen = seen + (from[first] == kNeverHidden ? is : is * isPositive(-length + from[first]));
  }
  return seen;
}

Box RingSteps::boxAt(unsigned step) const { return {seenWhere(hidden[step])}; }

} // namespace weft
