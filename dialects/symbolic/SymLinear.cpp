//===- SymLinear.cpp - Linear arithmetic over monomials, with lemmas ---------------------------===//
//
// Every distinct monomial becomes a variable of a linear system: infeasible over the rationals, or, when it is small, over the integers
// (Presburger). What ties the variables together is added as lemmas:
//
//   q = floordiv(a, k)     a - k*q >= 0 and k*q + k - 1 - a >= 0
//   p = pos(a)             p >= 0 and p - a >= 0
//   x*y                    (x - low)*(y - low) >= 0, and the same with upper ends
//   a constraint times a non-negative monomial, when the product has a monomial of the problem
//
// The limits below bound the work of one call; above them an answer is "not infeasible".
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Infeasibility.h"
#include "dialects/symbolic/SymProblem.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

static constexpr unsigned kMaxColumns = 28;
static constexpr unsigned kMaxRows = 72;
static constexpr unsigned kMaxProducts = 24;
static constexpr int64_t kLarge = int64_t(1) << 24;
/// The search for integer points is exponential in the number of variables.
static constexpr unsigned kMaxIntegerColumns = 4;

namespace {
class LinearSystem {
public:
  LinearSystem(const Problem &problem, uint64_t &work)
      : problem(problem), context(problem.context), work(work) {}

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
    if (columns.size() + fresh > kMaxColumns && lemmas)
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

  SmallVector<LinearRow, 32> matrix() const {
    llvm::SmallDenseMap<SymExpr, unsigned, 32> index;
    for (auto [i, column] : llvm::enumerate(columns))
      index[column] = i;
    SmallVector<LinearRow, 32> result;
    auto addLinear = [&](bool equality) -> LinearRow & {
      LinearRow &row = result.emplace_back();
      row.values.assign(columns.size() + 1, 0);
      row.equality = equality;
      return row;
    };
    for (const Constraint &constraint : rows) {
      LinearRow &row = addLinear(constraint.equality);
      for (const Term &term : nodeOf(constraint.expr).terms)
        if (term.factors.empty())
          row.values.back() = term.coefficient;
        else
          row.values[index[makeMonomial(context, term.factors)]] = term.coefficient;
    }
    for (auto [i, column] : llvm::enumerate(columns)) {
      SymInterval range = problem.ranges.of(column);
      if (range.low && *range.low != INT64_MIN) {
        LinearRow &row = addLinear(false);
        row.values[i] = 1;
        row.values.back() = -*range.low;
      }
      if (range.high && *range.high < kMaxSymbolValue) {
        LinearRow &row = addLinear(false);
        row.values[i] = -1;
        row.values.back() = *range.high;
      }
    }
    return result;
  }

  template <typename Rows> presburger::IntegerPolyhedron polyhedron(const Rows &selected) const {
    presburger::IntegerPolyhedron set(presburger::PresburgerSpace::getSetSpace(columns.size()));
    for (const LinearRow &row : selected)
      if (row.equality)
        set.addEquality(row.values);
      else
        set.addInequality(row.values);
    return set;
  }

  /// Floating point names a few rows; exact arithmetic decides about them.
  bool contradict(ArrayRef<LinearRow> candidates) const {
    auto named = findContradictingRows(candidates);
    if (!named)
      return false;
    SmallVector<LinearRow, 8> selected;
    for (unsigned i : *named)
      selected.push_back(candidates[i]);
    return presburger::Simplex(polyhedron(selected)).isEmpty();
  }

  bool solve() {
    SmallVector<LinearRow, 32> all = matrix();
    uint64_t cost = all.size() * columns.size();
    if (cost > work)
      return false;
    work -= cost;
    // Large bounds rarely matter and spoil the floating-point search, so it is tried without them first.
    SmallVector<LinearRow, 32> plain;
    llvm::copy_if(all, std::back_inserter(plain), [](const LinearRow &row) {
      return llvm::all_of(row.values, [](int64_t v) { return v > -kLarge && v < kLarge; });
    });
    if (contradict(plain) || (plain.size() != all.size() && contradict(all)))
      return true;
    return columns.size() <= kMaxIntegerColumns && polyhedron(all).isIntegerEmpty();
  }

  const Problem &problem;
  MLIRContext *context;
  uint64_t &work;
  SmallVector<Constraint, 32> rows;
  llvm::SetVector<SymExpr> columns;
  llvm::DenseSet<SymExpr> seen;
  unsigned lemmasUpTo = 0;
  bool lemmas = false;
};
} // namespace

bool symbolic::linearlyInfeasible(const Problem &problem, uint64_t &work) {
  return LinearSystem(problem, work).infeasible();
}
