//===- SymProve.cpp - Case splits around the linear step ---------------------------------------===//
//
// A problem is contradictory when every case of every split is. The first case without a contradiction ends the search, so a goal that
// cannot be proved costs one path through the tree, not the whole tree.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymProblem.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

static constexpr unsigned kMaxSplits = 6;
static constexpr unsigned kMaxLeaves = 32;
/// Sum of rows times columns of all linear systems of one proof.
static constexpr uint64_t kMaxWork = 16000;

namespace {
class Search {
public:
  bool contradicts(Problem problem, unsigned splits) {
    problem.solve();
    if (problem.contradiction)
      return true;
    if (++leaves > kMaxLeaves)
      return false;
    if (linearlyInfeasible(problem, work))
      return true;
    if (splits == kMaxSplits)
      return false;
    if (!problem.alternatives.empty())
      return splitAlternatives(problem, splits + 1);
    if (SymExpr atom = atomToSplit(problem))
      return splitAtom(problem, atom, splits + 1);
    return false;
  }

private:
  /// The shortest list of alternatives first.
  bool splitAlternatives(const Problem &problem, unsigned splits) {
    auto shortest = llvm::min_element(
        problem.alternatives, [](const auto &a, const auto &b) { return a.size() < b.size(); });
    size_t position = shortest - problem.alternatives.begin();
    for (const Constraint &option : *shortest) {
      Problem branch = problem;
      branch.alternatives.erase(branch.alternatives.begin() + position);
      branch.add(option);
      if (!contradicts(std::move(branch), splits))
        return false;
    }
    return true;
  }

  /// The innermost pos or bcast; of those, the first in the text of the problem.
  static SymExpr atomToSplit(const Problem &problem) {
    SymExpr best;
    auto isNested = [](SymExpr expr) { return nodeOf(expr).depth != 0; };
    auto consider = [&](SymExpr atom) -> SymExpr {
      NodeKind kind = nodeOf(atom).kind;
      if ((kind == NodeKind::Pos || kind == NodeKind::BCast) &&
          (!best || nodeOf(atom).depth < nodeOf(best).depth))
        best = atom;
      return {};
    };
    for (const Constraint &constraint : problem.constraints)
      (void)rewriteAtoms(constraint.expr, isNested, consider);
    return best;
  }

  bool splitAtom(const Problem &problem, SymExpr atom, unsigned splits) {
    SymExpr a = nodeOf(atom).lhs, zero = SymExpr::constant(problem.context, 0);
    auto refuteCase = [&](Constraint condition, SymExpr value) {
      Problem branch = problem;
      branch.replaceAtom(atom, value);
      branch.add(condition);
      return contradicts(std::move(branch), splits);
    };
    if (nodeOf(atom).kind == NodeKind::Pos)
      return refuteCase({false, a}, a) && refuteCase({false, zero - 1 - a}, zero);
    return refuteCase({true, a - 1}, nodeOf(atom).rhs) && refuteCase({false, a - 2}, a) &&
           refuteCase({false, zero - a}, a);
  }

  unsigned leaves = 0;
  uint64_t work = kMaxWork;
};
} // namespace

bool symbolic::contradicts(Problem problem) { return Search().contradicts(std::move(problem), 0); }
