//===- RingSteps.cpp ------------------------------------------------------------------------------===//

#include "passes/parallel/RingSteps.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

constexpr double kWorthExchange = 0.8; ///< of the work, for sending pieces to other ranks and back

/// 1 where the expression is at least 1, else 0.
static SymExpr isPositive(SymExpr expr) {
  return SymExpr::min(SymExpr::constant(expr.getContext(), 1), SymExpr::pos(expr));
}

/// Where both are hidden.
static SmallVector<int64_t, 8> both(ArrayRef<int64_t> one, ArrayRef<int64_t> other) {
  SmallVector<int64_t, 8> larger;
  for (auto [a, b] : llvm::zip_equal(one, other))
    larger.push_back(std::max(a, b));
  return larger;
}

RingSteps::Hidden RingSteps::Way::rows(unsigned step, unsigned piece) const {
  auto &of = hidden[step][piece];
  return pieces == 1 ? of[0] : both(of[0], of[1]);
}

RingSteps::Hidden RingSteps::Way::columns(unsigned step, unsigned piece) const {
  auto &of = hidden[step];
  return pieces == 1 ? of[0][0] : both(of[0][piece], of[1][piece]);
}

RingSteps::Way RingSteps::wayOf(Value scores, const Spans &spans, const Blocks &blocks,
                                unsigned pieces, std::optional<int64_t> fewest) const {
  int64_t ranks = group.getRanks(), count = ranks * pieces;
  Way way{pieces, unsigned(ranks), SymExpr::ceildiv(tensorType(scores).getDims().back(), count)};
  way.hidden.resize(ranks);
  way.least = std::max<int64_t>(1, (fewest.value_or(0) + count - 1) / count);
  HiddenBlocks mask(blocks);
  auto stretch = [&](int64_t place, unsigned piece) {
    return Stretch{piece ? ranks - 1 - place : place, piece, pieces};
  };
  for (int64_t step = 0; step < ranks; ++step)
    for (unsigned row = 0; row < pieces; ++row)
      for (unsigned column = 0; column < pieces; ++column)
        for (int64_t place = 0; place < ranks; ++place)
          way.hidden[step][row][column].push_back(
              fewest ? mask.from(scores, spans, stretch(place, row),
                                 stretch((place + ranks - step) % ranks, column), way.least)
                     : kNeverHidden);
  auto isSeen = [&](unsigned step) {
    Hidden all = way.rows(step, 0);
    if (pieces == 2)
      all = both(all, way.rows(step, 1));
    return llvm::any_of(all, [&](int64_t from) { return from > way.least; });
  };
  while (way.steps > 1 && !isSeen(way.steps - 1))
    --way.steps;
  return way;
}

/// Of long parts, where every step takes as long as that of the rank that does most.
double RingSteps::workOf(const Way &way) const {
  double sum = 0;
  for (unsigned step = 0; step < way.steps; ++step) {
    double most = 0;
    for (int64_t place = 0; place < group.getRanks(); ++place) {
      double rows = 0, columns = 0;
      for (unsigned piece = 0; piece < way.pieces; ++piece) {
        rows += way.rows(step, piece)[place] == kNeverHidden;
        columns += way.columns(step, piece)[place] == kNeverHidden;
      }
      most = std::max(most, rows * columns / (way.pieces * way.pieces));
    }
    sum += most;
  }
  return sum;
}

RingSteps::RingSteps(Value scores, const Spans &spans, const Blocks &blocks, MeshAttr group,
                     const SymFacts &facts)
    : group(group) {
  SymTensorType type = tensorType(scores);
  SymExpr keys = type.getDims().back();
  bool areAlike = keys == type.getDim(llvm::find(spans, Span::Rows) - spans.begin());
  std::optional<int64_t> fewest; // where parts of rows and columns begin alike
  if (areAlike)
    fewest = facts.bounds(keys).low.value_or(0);
  chosen = wayOf(scores, spans, blocks, 1, fewest);
  bool areAllSeen = llvm::all_of(chosen->hidden, [](auto &step) {
    return llvm::all_of(step[0][0], [](int64_t from) { return from == kNeverHidden; });
  });
  if (areAllSeen)
    return;
  Way halves = wayOf(scores, spans, blocks, 2, fewest);
  if (workOf(halves) < kWorthExchange * workOf(*chosen))
    chosen = halves;
}

/// 1 at places from `first` to `last`.
SymExpr RingSteps::among(int64_t first, int64_t last) const {
  SymExpr place = placeIn(group), is = SymExpr::constant(place.getContext(), 1);
  if (first > 0)
    is = isPositive(place - (first - 1));
  return last + 1 < group.getRanks() ? is * isPositive(-place + (last + 1)) : is;
}

SymExpr RingSteps::seenWhere(const Way &way, const Hidden &from) const {
  SymExpr seen = SymExpr::constant(group.getContext(), 0);
  for (size_t first = 0, end; first < from.size(); first = end) {
    for (end = first + 1; end < from.size() && from[end] == from[first];)
      ++end;
    if (from[first] <= way.least)
      continue;
    SymExpr is = among(first, end - 1);
    seen = seen + (from[first] == kNeverHidden ? is : is * isPositive(-way.length + from[first]));
  }
  return seen;
}

Box RingSteps::boxAt(unsigned step) const {
  const Way &way = *chosen;
  auto one = SymExpr::constant(group.getContext(), 1), zero = one - 1;
  if (way.pieces == 1)
    return {zero, one, zero, seenWhere(way, way.columns(step, 0))};
  SymExpr earlyRows = seenWhere(way, way.rows(step, 0)),
          lateRows = seenWhere(way, way.rows(step, 1)),
          earlyColumns = seenWhere(way, way.columns(step, 0)),
          lateColumns = seenWhere(way, way.columns(step, 1));
  return {one - earlyRows, earlyRows + lateRows, one - earlyColumns, earlyColumns + lateColumns};
}

} // namespace weft
