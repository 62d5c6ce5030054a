//===- SymProblem.h - A set of constraints, and the search for a contradiction in it -----------===//
//
// Private to this folder. A goal is proved by adding its negation to the facts and finding that no integers satisfy the whole:
//
//   Problem problem = facts;
//   problem.add({/*equality=*/false, a - b - 1});      // not (a <= b)
//   if (contradicts(problem)) ...                      // a <= b follows
//
// A constraint that cannot be expressed (it overflows) is left out: that can only lose a proof.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMPROBLEM_H
#define WEFT_DIALECTS_SYMBOLIC_SYMPROBLEM_H

#include "dialects/symbolic/SymIntervals.h"

namespace weft::symbolic {

/// One of several must hold.
using Alternatives = llvm::SmallVector<Constraint, 2>;

/// `lhs == rhs` as lhs - rhs == 0, `lhs <= rhs` as rhs - lhs >= 0.
Constraint constraintOf(const SymRelation &relation);

/// Divides by the content; the constant of `expr >= 0` is rounded down, which is sound for integers.
Constraint normalize(Constraint constraint);

class Problem {
public:
  explicit Problem(mlir::MLIRContext *context) : context(context) {}

  void add(Constraint constraint);
  void add(Alternatives alternatives);
  void add(const SymPred &pred);
  /// Adds what holds wherever `expr` is defined: divisors are positive, broadcast extents are compatible.
  void addDomain(SymExpr expr);

  /// Brings the problem into solved form: equalities become substitutions, ranges are propagated, atoms and alternatives whose case is
  /// known are replaced. Sets `contradiction` when that finds one.
  void solve();

  /// The expression with all substitutions of solve() applied.
  SymExpr rewrite(SymExpr expr) const { return expr.substitute(solved); }
  /// Those substitutions; images of the congruence rule mention symbols with names that no program can write.
  const SymMap &substitutions() const { return solved; }
  /// A lower bound that uses single constraints besides the ranges.
  SymInterval bounds(SymExpr expr) const;
  /// The same with sums of up to `steps` constraints times monomials: 64*b*p + 64*b*s has a bound from 2048 - p - s >= 0.
  SymInterval thoroughBounds(SymExpr expr, unsigned steps) const;
  /// Assumes that a function atom has this value.
  void replaceAtom(SymExpr atom, SymExpr value);
  /// Drops constraints that share no symbol with `expr`, directly or through others.
  void keepRelevant(llvm::ArrayRef<mlir::StringAttr> names);

  mlir::MLIRContext *context;
  llvm::SmallVector<Constraint, 8> constraints;
  llvm::SmallVector<Alternatives, 2> alternatives;
  Intervals ranges;
  bool contradiction = false;
  bool useCongruences = true; ///< whether solve() may introduce fresh symbols for mod(x, k) == r

private:
  struct Solution {
    mlir::StringAttr name;
    SymExpr value;
  };
  static std::optional<Solution> solveForSymbol(SymExpr expr);
  std::optional<Solution> solveSingle(SymExpr sum, int64_t k);
  bool solveOneEquality();
  bool solveCongruence(const Constraint &constraint);
  void substitute(mlir::StringAttr name, SymExpr value);
  void decideConstraints();
  bool decideAlternatives();
  bool decideAtoms();
  SymExpr freshSymbol();
  template <typename Function> void rewriteAll(Function rewrite);

  SymMap solved;
  unsigned freshCount = 0;
};

/// True when the solved problem has no integer solution by linear arithmetic, with lemmas for atoms and products. Takes what it costs
/// (rows times columns) from `work`, and does nothing when that is not left.
bool linearlyInfeasible(const Problem &problem, uint64_t &work);

/// True when the problem has no integer solution, by all means including case splits. False means unknown.
bool contradicts(Problem problem);

} // namespace weft::symbolic

#endif // WEFT_DIALECTS_SYMBOLIC_SYMPROBLEM_H
