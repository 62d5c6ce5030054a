//===- SymLinear.cpp - Linear arithmetic over monomials, with lemmas ---------------------------===//
//
// Every distinct monomial becomes a variable of a Presburger set. What ties the variables together is added as lemmas:
//
//   q = floordiv(a, k)     a - k*q >= 0 and k*q + k - 1 - a >= 0
//   p = pos(a)             p >= 0 and p - a >= 0
//   x*y                    (x - low)*(y - low) >= 0, and the same with upper ends
//   a constraint times a non-negative monomial, when the product has a monomial of the problem
//
// The limits below bound the work of one call; above them an answer is "not infeasible".
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymProblem.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

static constexpr unsigned kMaxColumns = 40;
static constexpr unsigned kMaxRows = 120;
static constexpr unsigned kMaxProducts = 32;
/// The search for integer points is exponential in the number of variables.
static constexpr unsigned kMaxIntegerColumns = 10;

namespace {
class LinearSystem {
public:
  explicit LinearSystem(const Problem &problem) : problem(problem), context(problem.context) {}

  bool infeasible() {
    for (const Constraint &constraint : problem.constraints)
      addRow(constraint);
    if (rows.empty() || columns.size() > kMaxColumns)
      return false;
    addLemmas();
    multiplyRows();
    addLemmas();
    return solve();
  }

private:
  void addRow(Constraint row) {
    row = normalize(row);
    if (row.expr.isOverflow() || rows.size() >= kMaxRows || !seen.insert(row.expr).second)
      return;
    SmallVector<SymExpr, 4> added;
    for (const Term &term : nodeOf(row.expr).terms)
      if (!term.factors.empty())
        added.push_back(makeMonomial(context, term.factors));
    unsigned fresh = llvm::count_if(added, [&](SymExpr m) { return !columns.contains(m); });
    if (columns.size() + fresh > kMaxColumns && !problem.constraints.empty() && lemmas)
      return;
    columns.insert(added.begin(), added.end());
    rows.push_back(row);
  }
  void addNonNegative(SymExpr expr) { addRow({false, expr}); }

  void addLemmas() {
    lemmas = true;
    for (; lemmasUpTo < columns.size(); ++lemmasUpTo) {
      SymExpr column = columns[lemmasUpTo];
      if (isAtom(column))
        addAtomLemmas(column);
      else
        addProductLemmas(column);
    }
  }

  void addAtomLemmas(SymExpr atom) {
    const SymExprStorage &node = nodeOf(atom);
    if (node.kind == NodeKind::Pos)
      addNonNegative(atom - node.lhs);
    if (node.kind != NodeKind::FloorDiv)
      return;
    SymInterval divisor = problem.bounds(node.rhs);
    if (!divisor.low || *divisor.low < 1)
      return;
    addNonNegative(node.lhs - node.rhs * atom);
    addNonNegative(node.rhs * atom + node.rhs - 1 - node.lhs);
  }

  /// For a product x*y with x in [a, b] and y in [c, d]: (x - a)*(y - c) >= 0, (b - x)*(y - c) >= 0, and so on.
  void addProductLemmas(SymExpr product) {
    Monomial factors = nodeOf(product).terms[0].factors;
    MonomialPool pool;
    unsigned split = 0;
    for (const Factor &factor : factors) {
      constexpr unsigned maxSplits = 3;
      if (split++ == maxSplits)
        return;
      SymExpr x = factor.atom;
      SymExpr y = makeMonomial(context, *pool.quotient(factors, Factor{x, 1}));
      SymInterval xRange = problem.ranges.of(x), yRange = problem.ranges.of(y);
      auto distance = [](SymExpr value, std::optional<int64_t> end, bool upper) -> SymExpr {
        if (!end || (upper && *end >= kMaxSymbolValue))
          return {};
        SymExpr bound = SymExpr::constant(value.getContext(), *end);
        return upper ? bound - value : value - bound;
      };
      for (bool upperX : {false, true})
        for (bool upperY : {false, true}) {
          SymExpr dx = distance(x, upperX ? xRange.high : xRange.low, upperX);
          SymExpr dy = distance(y, upperY ? yRange.high : yRange.low, upperY);
          // With both lower ends 0 it says only that the product is not negative, which its range says too.
          if (dx && dy && !(dx == x && dy == y))
            addNonNegative(dx * dy);
        }
    }
  }

  /// Multiplies rows so that a nonlinear monomial of the problem appears in the product.
  void multiplyRows() {
    SmallVector<SymExpr, 16> targets;
    for (SymExpr column : columns)
      if (!isAtom(column))
        targets.push_back(column);
    SmallVector<Constraint, 32> originals(rows);
    MonomialPool pool;
    unsigned products = 0;
    for (SymExpr target : targets)
      for (const Constraint &row : originals)
        for (const Term &term : nodeOf(row.expr).terms) {
          if (term.factors.empty())
            continue;
          std::optional<Monomial> quotient =
              pool.quotient(nodeOf(target).terms[0].factors, term.factors);
          if (!quotient || quotient->empty())
            continue;
          SymExpr scale = makeMonomial(context, *quotient);
          if (!nodeOf(scale).nonNegative || ++products > kMaxProducts)
            continue;
          addRow({row.equality, scale * row.expr});
        }
  }

  bool solve() {
    using namespace mlir::presburger;
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
    llvm::SmallDenseMap<SymExpr, unsigned, 32> index;
    for (auto [i, column] : llvm::enumerate(columns))
      index[column] = i;
    SmallVector<int64_t, 48> row;
    for (const Constraint &constraint : rows) {
      row.assign(columns.size() + 1, 0);
      for (const Term &term : nodeOf(constraint.expr).terms)
        if (term.factors.empty())
          row.back() = term.coefficient;
        else
          row[index[makeMonomial(context, term.factors)]] = term.coefficient;
      if (constraint.equality)
        set.addEquality(row);
      else
        set.addInequality(row);
    }
    bool bounded = true;
    for (auto [i, column] : llvm::enumerate(columns)) {
      SymInterval range = problem.ranges.of(column);
      if (range.low)
        set.addBound(BoundType::LB, i, *range.low);
      if (range.high && *range.high < kMaxSymbolValue)
        set.addBound(BoundType::UB, i, *range.high);
      else
        bounded = false;
    }
    (void)bounded;
    if (Simplex(set).isEmpty())
      return true;
    return columns.size() <= kMaxIntegerColumns && set.isIntegerEmpty();
  }

  const Problem &problem;
  MLIRContext *context;
  SmallVector<Constraint, 32> rows;
  llvm::SetVector<SymExpr> columns;
  llvm::DenseSet<SymExpr> seen;
  unsigned lemmasUpTo = 0;
  bool lemmas = false;
};
} // namespace

bool symbolic::linearlyInfeasible(const Problem &problem) {
  return LinearSystem(problem).infeasible();
}
