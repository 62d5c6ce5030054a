//===- SymProblem.cpp - Solving equalities, deciding atoms and alternatives by ranges ----------===//
#include "dialects/symbolic/SymProblem.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

//===- Constraints ------------------------------------------------------------------------------===//

Constraint symbolic::constraintOf(const SymRelation &relation) {
  return {relation.kind == SymRelation::Equal, relation.rhs - relation.lhs};
}

Constraint symbolic::normalize(Constraint constraint) {
  uint64_t content = contentOf(constraint.expr, /*withConstant=*/constraint.equality);
  if (constraint.expr.isOverflow() || content <= 1 || content > uint64_t(INT64_MAX))
    return constraint;
  SmallVector<Term, 8> terms;
  for (const Term &term : nodeOf(constraint.expr).terms) {
    int64_t divisor = int64_t(content), quotient = term.coefficient / divisor;
    quotient -= term.coefficient % divisor < 0 ? 1 : 0;
    if (quotient != 0)
      terms.push_back({quotient, term.factors});
  }
  return {constraint.equality, makePolynomial(constraint.expr.getContext(), terms)};
}

void Problem::add(Constraint constraint) {
  constraint = normalize(constraint);
  if (!constraint.expr.isOverflow() && !llvm::is_contained(constraints, constraint))
    constraints.push_back(constraint);
}

void Problem::add(Alternatives options) {
  if (options.size() == 1)
    return add(options[0]);
  for (Constraint &option : options) {
    option = normalize(option);
    if (option.expr.isOverflow())
      return;
  }
  if (!llvm::is_contained(alternatives, options))
    alternatives.push_back(std::move(options));
}

void Problem::add(const SymPred &pred) {
  Alternatives options;
  for (const SymRelation &relation : pred.relations())
    options.push_back(constraintOf(relation));
  if (!options.empty())
    add(std::move(options));
}

void Problem::addDomain(SymExpr expr) {
  if (nodeOf(expr).depth == 0)
    return;
  for (const Term &term : nodeOf(expr).terms)
    for (const Factor &factor : term.factors) {
      const SymExprStorage &atom = nodeOf(factor.atom);
      if (atom.kind == NodeKind::Symbol)
        continue;
      addDomain(atom.lhs);
      if (!atom.rhs)
        continue;
      addDomain(atom.rhs);
      if (atom.kind == NodeKind::FloorDiv)
        add(Constraint{false, atom.rhs - 1});
      else
        add(Alternatives{{true, atom.lhs - atom.rhs}, {true, atom.lhs - 1}, {true, atom.rhs - 1}});
    }
}

void Problem::keepRelevant(ArrayRef<StringAttr> names) {
  llvm::SmallDenseSet<StringAttr, 8> wanted(names.begin(), names.end());
  auto touches = [&](SymExpr expr) {
    return llvm::any_of(expr.symbols(), [&](StringAttr name) { return wanted.count(name) != 0; });
  };
  auto want = [&](SymExpr expr) {
    size_t before = wanted.size();
    wanted.insert(expr.symbols().begin(), expr.symbols().end());
    return wanted.size() != before;
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const Constraint &constraint : constraints)
      if (touches(constraint.expr))
        grew |= want(constraint.expr);
    for (const Alternatives &options : alternatives)
      if (llvm::any_of(options, [&](const Constraint &c) { return touches(c.expr); }))
        for (const Constraint &option : options)
          grew |= want(option.expr);
  }
  llvm::erase_if(constraints, [&](const Constraint &c) { return !touches(c.expr); });
  llvm::erase_if(alternatives, [&](const Alternatives &options) {
    return llvm::none_of(options, [&](const Constraint &c) { return touches(c.expr); });
  });
}

//===- Equalities -------------------------------------------------------------------------------===//

SymExpr Problem::freshSymbol() {
  // A control character keeps the name apart from those of programs.
  return SymExpr::symbol(context, "\x01" + std::to_string(freshCount++));
}

template <typename Function> void Problem::rewriteAll(Function rewrite) {
  SmallVector<Constraint, 8> oldConstraints = std::move(constraints);
  SmallVector<Alternatives, 2> oldAlternatives = std::move(alternatives);
  constraints.clear();
  alternatives.clear();
  for (const Constraint &constraint : oldConstraints)
    add(Constraint{constraint.equality, rewrite(constraint.expr)});
  for (Alternatives &options : oldAlternatives) {
    for (Constraint &option : options)
      option.expr = rewrite(option.expr);
    add(std::move(options));
  }
}

/// Replaces the symbol everywhere; what its range said becomes constraints on the value.
void Problem::substitute(StringAttr name, SymExpr value) {
  SymInterval range = ranges.ofSymbol(name);
  SymMap single;
  single[name] = value;
  rewriteAll([&](SymExpr expr) { return expr.substitute(single); });
  for (auto &entry : solved)
    entry.second = entry.second.substitute(single);
  solved[name] = value;
  if (*range.low > 0 || !knownNonNegative(value))
    add(Constraint{false, value - *range.low});
  if (*range.high < kMaxSymbolValue)
    add(Constraint{false, SymExpr::constant(context, *range.high) - value});
}

/// Solves `expr == 0` for a symbol with coefficient 1 or -1 that occurs nowhere else in it. A value that is not negative by its form
/// is preferred, then the last name (`ps == p + s` gives ps).
std::optional<Problem::Solution> Problem::solveForSymbol(SymExpr expr) {
  std::optional<Solution> best;
  bool bestNonNegative = false;
  for (const Term &term : nodeOf(expr).terms) {
    if (term.factors.size() != 1 || term.factors[0].power != 1 ||
        (term.coefficient != 1 && term.coefficient != -1))
      continue;
    SymExpr atom = term.factors[0].atom;
    StringAttr name = atom.asSymbol();
    if (!name)
      continue;
    SymExpr rest = addScaled(expr, atom, -term.coefficient);
    SymExpr value = term.coefficient == 1 ? -rest : rest;
    if (value.isOverflow() || llvm::is_contained(value.symbols(), name))
      continue;
    bool nonNegative = knownNonNegative(value);
    if (!best || (nonNegative && !bestNonNegative) ||
        (nonNegative == bestNonNegative && name.getValue() > best->name.getValue())) {
      best = Solution{name, value};
      bestNonNegative = nonNegative;
    }
  }
  return best;
}

/// x with a*x = 1 (mod m), for gcd(a, m) = 1 and m >= 2.
static int64_t inverseModulo(int64_t a, int64_t m) {
  __int128 r0 = m, r1 = ((a % m) + m) % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    __int128 q = r0 / r1;
    std::tie(r0, r1) = std::make_pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::make_pair(t1, t0 - q * t1);
  }
  return int64_t(t0 < 0 ? t0 + m : t0);
}

/// n from c*n + t = 0 (mod k) with gcd(c, k) = 1, as k*q + start with a fresh q.
std::optional<Problem::Solution> Problem::solveSingle(SymExpr sum, int64_t k) {
  ArrayRef<Term> terms = nodeOf(sum).terms;
  bool onlyConstantBesides = terms.size() == 1 || (terms.size() == 2 && terms[1].factors.empty());
  if (!onlyConstantBesides || terms[0].factors.size() != 1 || terms[0].factors[0].power != 1)
    return std::nullopt;
  StringAttr name = terms[0].factors[0].atom.asSymbol();
  if (!name || std::gcd(terms[0].coefficient, k) != 1)
    return std::nullopt;
  __int128 start = -__int128(constantTerm(sum)) % k * inverseModulo(terms[0].coefficient, k) % k;
  return Solution{name, freshSymbol() * k + int64_t(start < 0 ? start + k : start)};
}

/// mod(x, k) == r, which reads x - k*floordiv(x, k) - r == 0. The congruence is solved with a fresh symbol q >= 0, so that the rules of
/// the normal form see the multiples: n with mod(n, 8) == 0 becomes 8*q, and floordiv(n, 4) becomes 2*q.
bool Problem::solveCongruence(const Constraint &constraint) {
  SymExpr expr = constraint.expr;
  for (const Term &term : nodeOf(expr).terms) {
    if (term.factors.size() != 1 || term.factors[0].power != 1)
      continue;
    const SymExprStorage &atom = nodeOf(term.factors[0].atom);
    std::optional<int64_t> divisor =
        atom.kind == NodeKind::FloorDiv ? atom.rhs.asConstant() : std::nullopt;
    if (!divisor || (term.coefficient != *divisor && term.coefficient != -*divisor))
      continue;
    SymExpr part = makeMonomial(context, term.factors, term.coefficient);
    SymExpr dividend = term.coefficient < 0 ? expr - part : part - expr; // x - r
    std::optional<int64_t> residue = (atom.lhs - dividend).asConstant();
    if (!residue)
      continue;
    SymInterval range = ranges.of(atom.lhs);
    if (*residue < 0 || *residue >= *divisor) {
      contradiction = true;
      return true;
    }
    // The fresh symbol must be a symbol like others: 0 <= q <= kMaxSymbolValue.
    if (!range.low || *range.low < 0 || !range.high || *range.high / *divisor > kMaxSymbolValue)
      continue;
    if (std::optional<Solution> solution = solveSingle(dividend, *divisor)) {
      substitute(solution->name, solution->value);
      return true;
    }
    if (std::optional<Solution> solution = solveForSymbol(freshSymbol() * *divisor - dividend)) {
      substitute(solution->name, solution->value);
      return true;
    }
  }
  return false;
}

bool Problem::solveOneEquality() {
  for (size_t i = 0; i < constraints.size(); ++i) {
    Constraint constraint = constraints[i];
    if (!constraint.equality)
      continue;
    std::optional<Solution> solution = solveForSymbol(constraint.expr);
    if (solution) {
      constraints.erase(constraints.begin() + i);
      substitute(solution->name, solution->value);
      return true;
    }
    if (useCongruences && nodeOf(constraint.expr).depth != 0 && solveCongruence(constraint))
      return true;
  }
  return false;
}

//===- Deciding by ranges -----------------------------------------------------------------------===//

namespace {
enum class Truth { False, True, Open };
} // namespace

static Truth decide(const Constraint &constraint, SymInterval range) {
  if (!constraint.equality) {
    if (range.low && *range.low >= 0)
      return Truth::True;
    return range.high && *range.high < 0 ? Truth::False : Truth::Open;
  }
  if ((range.low && *range.low > 0) || (range.high && *range.high < 0))
    return Truth::False;
  return range.low && range.high && *range.low == 0 && *range.high == 0 ? Truth::True : Truth::Open;
}

/// Removes what the ranges imply. The ranges came from these constraints too, so a constraint goes only when it is about one symbol
/// and therefore fully expressed by the range, or when it is a tautology.
void Problem::decideConstraints() {
  llvm::erase_if(constraints, [&](const Constraint &constraint) {
    Truth truth = decide(constraint, ranges.of(constraint.expr));
    contradiction |= truth == Truth::False;
    const SymExprStorage &node = nodeOf(constraint.expr);
    return truth == Truth::True && node.symbols.size() <= 1 && node.depth == 0;
  });
}

SymInterval Problem::bounds(SymExpr expr) const {
  SymInterval best = ranges.of(expr);
  for (const Constraint &constraint : constraints) {
    // expr <= expr + c for c >= 0, expr >= expr - c; the sum is often constant or simpler.
    SymInterval above = ranges.of(expr + constraint.expr),
                below = ranges.of(expr - constraint.expr);
    best = intersectIntervals(best, {below.low, above.high});
    if (constraint.equality)
      best = intersectIntervals(best, {above.low, below.high});
  }
  return best;
}

SymInterval Problem::thoroughBounds(SymExpr expr, unsigned steps) const {
  SymInterval best = bounds(expr);
  constexpr unsigned maxTerms = 12, maxConstraints = 16;
  if (steps == 0 || nodeOf(expr).terms.size() > maxTerms || constraints.size() > maxConstraints)
    return best;
  MonomialPool pool;
  for (const Constraint &constraint : constraints)
    for (const Term &target : nodeOf(expr).terms)
      for (const Term &term : nodeOf(constraint.expr).terms) {
        // Add a multiple of the constraint that cancels the target term. Positive multiples only; an equality may take both signs.
        std::optional<Monomial> factors = pool.quotient(target.factors, term.factors);
        if (term.factors.empty() || !factors || target.coefficient % term.coefficient != 0)
          continue;
        SymExpr scale =
            makeMonomial(context, *factors, std::abs(target.coefficient / term.coefficient));
        bool sameSign = (target.coefficient > 0) == (term.coefficient > 0);
        if (!nodeOf(scale).nonNegative)
          continue;
        SymExpr product = scale * constraint.expr;
        SymExpr cancelled = sameSign ? expr - product : expr + product;
        if (cancelled.isOverflow() || nodeOf(cancelled).terms.size() > maxTerms)
          continue;
        SymInterval range = thoroughBounds(cancelled, steps - 1);
        if (!constraint.equality)
          (sameSign ? range.high : range.low).reset();
        best = intersectIntervals(best, range);
      }
  return best;
}

bool Problem::decideAlternatives() {
  bool changed = false;
  SmallVector<Alternatives, 2> open;
  for (Alternatives &options : alternatives) {
    bool holds = false;
    Alternatives left;
    for (const Constraint &option : options) {
      Truth truth = decide(option, bounds(option.expr));
      holds |= truth == Truth::True;
      if (truth == Truth::Open)
        left.push_back(option);
    }
    if (holds) {
      changed = true;
      continue;
    }
    changed |= left.size() != options.size() && left.size() <= 1;
    contradiction |= left.empty();
    if (left.size() == 1)
      add(left[0]);
    else if (left.size() > 1)
      open.push_back(std::move(left));
  }
  alternatives = std::move(open);
  return changed;
}

/// Replaces pos and bcast atoms whose case the ranges decide.
bool Problem::decideAtoms() {
  bool changed = false;
  auto isNested = [](SymExpr expr) { return nodeOf(expr).depth != 0; };
  auto replace = [&](SymExpr atom) -> SymExpr {
    const SymExprStorage &node = nodeOf(atom);
    if (node.kind != NodeKind::Pos && node.kind != NodeKind::BCast)
      return {};
    SymInterval range = bounds(node.lhs);
    SymExpr result;
    if (node.kind == NodeKind::Pos && range.low && *range.low >= 0)
      result = node.lhs;
    else if (node.kind == NodeKind::Pos && range.high && *range.high <= 0)
      result = SymExpr::constant(context, 0);
    else if (node.kind == NodeKind::BCast &&
             ((range.low && *range.low > 1) || (range.high && *range.high < 1)))
      result = node.lhs;
    changed |= bool(result);
    return result;
  };
  SmallVector<SymExpr, 8> before;
  for (const Constraint &constraint : constraints)
    before.push_back(constraint.expr);
  llvm::SmallDenseMap<SymExpr, SymExpr, 8> rewritten;
  for (SymExpr expr : before)
    rewritten[expr] = rewriteAtoms(expr, isNested, replace);
  for (const Alternatives &options : alternatives)
    for (const Constraint &option : options)
      rewritten[option.expr] = rewriteAtoms(option.expr, isNested, replace);
  if (changed)
    rewriteAll([&](SymExpr expr) { return rewritten.lookup(expr); });
  return changed;
}

void Problem::replaceAtom(SymExpr atom, SymExpr value) {
  auto isNested = [](SymExpr expr) { return nodeOf(expr).depth != 0; };
  auto replace = [&](SymExpr found) { return found == atom ? value : SymExpr(); };
  rewriteAll([&](SymExpr expr) { return rewriteAtoms(expr, isNested, replace); });
}

void Problem::solve() {
  constexpr unsigned maxRounds = 24;
  for (unsigned round = 0; round < maxRounds && !contradiction; ++round) {
    bool changed = solveOneEquality();
    contradiction |= !ranges.restrict(constraints);
    if (contradiction)
      return;
    decideConstraints();
    changed = decideAlternatives() || decideAtoms() || changed;
    if (!changed)
      return;
  }
}
