//===- SymFacts.cpp - Facts of a context and the steps of a proof ------------------------------===//
//
// Steps of prove(), until one answers: (1) the difference is a constant; (2) the goal is a fact; (3) solved equalities; (4) intervals;
// then sample points, which often show that neither Yes nor No can be right; (5) linear arithmetic with lemmas and case splits on the
// negated goal; else Unknown.
//
// Facts are interned per context: the same facts added in the same order are one object, with one memo.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymFacts.h"
#include "dialects/symbolic/SymDialect.h"
#include "dialects/symbolic/SymProblem.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <mutex>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

using PredKey = SmallVector<std::tuple<int, const void *, const void *>, 1>;

static PredKey keyOf(const SymPred &pred) {
  PredKey key;
  for (const SymRelation &relation : pred.relations())
    key.push_back({relation.kind, relation.lhs.asAttribute().getAsOpaquePointer(),
                   relation.rhs.asAttribute().getAsOpaquePointer()});
  return key;
}

namespace {
/// What is derived from facts once.
struct Derived {
  explicit Derived(MLIRContext *context) : problem(context) {}
  Problem problem; ///< solved
  SmallVector<SymValues, 12> samples;
};
} // namespace

struct SymFacts::Impl {
  explicit Impl(MLIRContext *context) : context(context) {}

  MLIRContext *context;
  SmallVector<SymPred, 4> facts;

  mutable std::mutex mutex; ///< guards all below
  mutable std::map<PredKey, std::shared_ptr<const Impl>> children;
  mutable std::map<PredKey, Proof> memo;
  mutable std::unique_ptr<const Derived> derived;
  mutable std::unique_ptr<const Problem> equalities; ///< solved without fresh symbols

  const Derived &getDerived() const;
  const Problem &getEqualities() const;
  Proof prove(const SymPred &goal) const;
  bool refutes(const SymPred &goal, bool negated) const;
};

//===- Construction -----------------------------------------------------------------------------===//

SymFacts::SymFacts(MLIRContext *context) {
  auto *dialect = context->getOrLoadDialect<SymDialect>();
  impl = std::static_pointer_cast<const Impl>(
      dialect->getFactsRoot([&] { return std::make_shared<Impl>(context); }));
}

SymFacts SymFacts::with(SymPred fact) const {
  SymFacts result = *this;
  std::lock_guard<std::mutex> lock(impl->mutex);
  std::shared_ptr<const Impl> &child = impl->children[keyOf(fact)];
  if (!child) {
    auto made = std::make_shared<Impl>(impl->context);
    made->facts = impl->facts;
    if (!llvm::is_contained(made->facts, fact))
      made->facts.push_back(std::move(fact));
    child = std::move(made);
  }
  result.impl = child;
  return result;
}

ArrayRef<SymPred> SymFacts::facts() const { return impl->facts; }

//===- Sample points ----------------------------------------------------------------------------===//

/// A value for a symbol in the n-th sample: small ones, the ends of the range, and a few larger. Depends on the name's text only.
static int64_t sampleValue(StringRef name, unsigned sample, SymInterval range) {
  static constexpr int64_t offsets[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 1000, 65536};
  uint64_t hash = 1469598103934665603u + sample;
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 1099511628211u;
  hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15u;
  // The first samples take the same offset for all symbols: all 0, all 1, all 2.
  unsigned choice = sample < 3 ? sample : unsigned((hash >> 33) % std::size(offsets));
  if (sample >= 3 && (hash >> 20) % 9 == 0)
    return *range.high;
  return std::min(*range.low + offsets[choice], *range.high);
}

/// Values of all symbols in `names`, those with a solution computed from the others.
static std::optional<SymValues> samplePoint(const Problem &problem, ArrayRef<StringAttr> names,
                                            unsigned sample) {
  SymValues values;
  auto assign = [&](StringAttr name) {
    values[name] = sampleValue(name.getValue(), sample, problem.ranges.ofSymbol(name));
  };
  for (StringAttr name : names) {
    SymExpr solution = problem.substitutions().lookup(name);
    if (!solution) {
      assign(name);
      continue;
    }
    for (StringAttr inner : solution.symbols())
      assign(inner);
    FailureOr<int64_t> value = solution.evaluate(values);
    if (failed(value) || *value < 0 || *value > kMaxSymbolValue)
      return std::nullopt;
    values[name] = *value;
  }
  return values;
}

static void sampleFacts(Derived &derived, ArrayRef<SymPred> facts) {
  SetVector<StringAttr> names;
  for (const SymPred &fact : facts)
    for (StringAttr name : fact.symbols())
      names.insert(name);
  constexpr unsigned tries = 40, wanted = 12;
  for (unsigned i = 0; i < tries && derived.samples.size() < wanted; ++i) {
    std::optional<SymValues> point = samplePoint(derived.problem, names.getArrayRef(), i);
    if (point && llvm::all_of(facts, [&](const SymPred &fact) {
          FailureOr<bool> holds = fact.evaluate(*point);
          return succeeded(holds) && *holds;
        }))
      derived.samples.push_back(std::move(*point));
  }
}

static bool mentionsBCast(SymExpr expr) {
  bool found = false;
  (void)rewriteAtoms(
      expr, [](SymExpr part) { return nodeOf(part).depth != 0; },
      [&](SymExpr atom) {
        found |= nodeOf(atom).kind == NodeKind::BCast;
        return SymExpr();
      });
  return found;
}

namespace {
struct Seen {
  bool holds = false, fails = false;
};
} // namespace

/// Which outcomes the goal has at sample points that satisfy the facts.
static Seen trySamples(const Derived &derived, const SymPred &goal) {
  Seen seen;
  for (const SymRelation &relation : goal.relations())
    if (mentionsBCast(relation.lhs) || mentionsBCast(relation.rhs))
      return seen; // evaluate() would also give values outside the domain
  SmallVector<StringAttr> names = goal.symbols();
  for (auto [i, sample] : llvm::enumerate(derived.samples)) {
    SymValues values = sample;
    for (StringAttr name : names)
      if (!values.count(name))
        values[name] = sampleValue(name.getValue(), i, derived.problem.ranges.ofSymbol(name));
    FailureOr<bool> holds = goal.evaluate(values);
    if (succeeded(holds))
      (*holds ? seen.holds : seen.fails) = true;
    if (seen.holds && seen.fails)
      break;
  }
  return seen;
}

//===- Proofs -----------------------------------------------------------------------------------===//

const Derived &SymFacts::Impl::getDerived() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (!derived) {
    auto made = std::make_unique<Derived>(context);
    for (const SymPred &fact : facts)
      made->problem.add(fact);
    made->problem.solve();
    if (!made->problem.contradiction)
      sampleFacts(*made, facts);
    derived = std::move(made);
  }
  return *derived;
}

const Problem &SymFacts::Impl::getEqualities() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (!equalities) {
    auto made = std::make_unique<Problem>(context);
    made->useCongruences = false;
    for (const SymPred &fact : facts)
      made->add(fact);
    made->solve();
    equalities = std::move(made);
  }
  return *equalities;
}

/// Adds that the relation holds, or that it does not.
static void addRelation(Problem &problem, Constraint constraint, bool negated) {
  SymExpr e = constraint.expr;
  if (!negated)
    problem.add(constraint);
  else if (!constraint.equality)
    problem.add(Constraint{false, -e - 1});
  else
    problem.add(Alternatives{{false, e - 1}, {false, -e - 1}});
}

/// True when the facts contradict the goal, or its negation.
bool SymFacts::Impl::refutes(const SymPred &goal, bool negated) const {
  const Problem &base = getDerived().problem;
  SmallVector<Constraint, 2> clauses;
  SmallVector<SymExpr, 4> sides;
  SmallVector<StringAttr> names;
  for (const SymRelation &relation : goal.relations()) {
    SymExpr lhs = base.rewrite(relation.lhs), rhs = base.rewrite(relation.rhs);
    if (lhs.isOverflow() || rhs.isOverflow())
      return false;
    clauses.push_back(constraintOf({relation.kind, lhs, rhs}));
    for (SymExpr side : {lhs, rhs}) {
      sides.push_back(side);
      llvm::append_range(names, side.symbols());
    }
  }
  Problem relevant = base;
  relevant.keepRelevant(names);
  // The goal's own divisions and broadcasts are defined. Those of facts are not assumed to be, or the check that guards one could be
  // proved by a fact that mentions it.
  for (SymExpr side : sides)
    relevant.addDomain(side);
  if (negated) { // not (c1 or c2): one problem with all negations
    for (Constraint clause : clauses)
      addRelation(relevant, clause, /*negated=*/true);
    return contradicts(std::move(relevant));
  }
  return llvm::all_of(clauses, [&](Constraint clause) {
    Problem branch = relevant;
    addRelation(branch, clause, /*negated=*/false);
    return contradicts(std::move(branch));
  });
}

static Proof decideConstants(const SymPred &goal) {
  bool allFalse = true;
  for (const SymRelation &relation : goal.relations()) {
    Constraint constraint = constraintOf(relation);
    std::optional<int64_t> value = constraint.expr.asConstant();
    if (value && (constraint.equality ? *value == 0 : *value >= 0))
      return Proof::Yes;
    allFalse &= value.has_value();
  }
  return allFalse && !goal.relations().empty() ? Proof::No : Proof::Unknown;
}

static Proof decideByIntervals(const Problem &problem, const SymPred &goal) {
  bool allFalse = true;
  for (const SymRelation &relation : goal.relations()) {
    Constraint constraint = constraintOf(relation);
    SymInterval range = problem.bounds(problem.rewrite(constraint.expr));
    bool below = range.high && *range.high < 0, above = range.low && *range.low > 0;
    bool holds = constraint.equality
                     ? range.low && range.high && *range.low == 0 && *range.high == 0
                     : range.low && *range.low >= 0;
    if (holds)
      return Proof::Yes;
    allFalse &= below || (constraint.equality && above);
  }
  return allFalse ? Proof::No : Proof::Unknown;
}

/// A fact whose every alternative is one of the goal's.
static bool isFact(ArrayRef<SymPred> facts, const SymPred &goal) {
  auto normal = [](const SymRelation &relation) { return normalize(constraintOf(relation)); };
  SmallVector<Constraint, 2> wanted;
  for (const SymRelation &relation : goal.relations())
    wanted.push_back(normal(relation));
  return llvm::any_of(facts, [&](const SymPred &fact) {
    return llvm::all_of(fact.relations(), [&](const SymRelation &relation) {
      Constraint known = normal(relation);
      return !known.expr.isOverflow() && llvm::is_contained(wanted, known);
    });
  });
}

Proof SymFacts::Impl::prove(const SymPred &goal) const {
  for (const SymRelation &relation : goal.relations())
    if (relation.lhs.isOverflow() || relation.rhs.isOverflow())
      return Proof::Unknown;
  const Derived &known = getDerived();
  if (known.problem.contradiction || isFact(facts, goal))
    return Proof::Yes;
  Proof proof = decideByIntervals(known.problem, goal);
  if (proof != Proof::Unknown)
    return proof;
  Seen seen = trySamples(known, goal);
  if (!seen.fails && refutes(goal, /*negated=*/true))
    return Proof::Yes;
  if (!seen.holds && refutes(goal, /*negated=*/false))
    return Proof::No;
  return Proof::Unknown;
}

Proof SymFacts::prove(const SymPred &goal) const {
  Proof proof = decideConstants(goal);
  if (proof != Proof::Unknown || goal.relations().empty())
    return proof;
  PredKey key = keyOf(goal);
  {
    std::lock_guard<std::mutex> lock(impl->mutex);
    auto found = impl->memo.find(key);
    if (found != impl->memo.end())
      return found->second;
  }
  proof = impl->prove(goal);
  constexpr size_t maxMemo = 1 << 16;
  std::lock_guard<std::mutex> lock(impl->mutex);
  if (impl->memo.size() < maxMemo)
    impl->memo[key] = proof;
  return proof;
}

Proof SymFacts::proveEqual(SymExpr a, SymExpr b) const { return prove(SymPred::equal(a, b)); }
Proof SymFacts::proveLE(SymExpr a, SymExpr b) const { return prove(SymPred::le(a, b)); }

//===- Bounds, divisors, simplification ---------------------------------------------------------===//

/// The bounds over all options of one list of alternatives; an option that contradicts the rest does not count.
static SymInterval boundsOverOptions(const Problem &problem, const Alternatives &options,
                                     SymExpr expr) {
  std::optional<SymInterval> all;
  for (const Constraint &option : options) {
    Problem branch = problem;
    branch.add(option);
    branch.solve();
    if (branch.contradiction)
      continue;
    SymInterval range = branch.thoroughBounds(branch.rewrite(expr), 1);
    all = all ? uniteIntervals(*all, range) : range;
  }
  return all.value_or(SymInterval());
}

SymInterval SymFacts::bounds(SymExpr expr) const {
  const Problem &problem = impl->getDerived().problem;
  SymExpr rewritten = problem.rewrite(expr);
  SymInterval result =
      intersectIntervals(problem.ranges.of(expr), problem.thoroughBounds(rewritten, 2));
  constexpr size_t maxLists = 4;
  for (const Alternatives &options : ArrayRef(problem.alternatives).take_front(maxLists)) {
    bool touches = llvm::any_of(options, [&](const Constraint &option) {
      return llvm::any_of(option.expr.symbols(), [&](StringAttr name) {
        return llvm::is_contained(rewritten.symbols(), name);
      });
    });
    if (touches)
      result = intersectIntervals(result, boundsOverOptions(problem, options, rewritten));
  }
  return result;
}

int64_t SymFacts::divisor(StringAttr symbol) const {
  SymExpr value = impl->getDerived().problem.substitutions().lookup(symbol);
  if (!value || value.isOverflow())
    return 1;
  uint64_t content = contentOf(value, /*withConstant=*/true);
  return content == 0 || content > uint64_t(kMaxSymbolValue) ? 1 : int64_t(content);
}

/// k*floordiv(a, k) is a where k divides a.
static SymExpr multiplyOutDivisions(const SymFacts &facts, SymExpr expr) {
  SumBuilder sum(expr.getContext());
  SymExpr zero = SymExpr::constant(expr.getContext(), 0);
  bool changed = false;
  for (const Term &term : nodeOf(expr).terms) {
    SymExpr value = makeMonomial(expr.getContext(), term.factors, term.coefficient);
    for (const Factor &factor : term.factors) {
      const SymExprStorage &atom = nodeOf(factor.atom);
      std::optional<int64_t> k =
          atom.kind == NodeKind::FloorDiv ? atom.rhs.asConstant() : std::nullopt;
      if (!k || factor.power != 1 || term.coefficient % *k != 0 ||
          facts.proveEqual(SymExpr::mod(atom.lhs, *k), zero) != Proof::Yes)
        continue;
      MonomialPool pool;
      Monomial rest = *pool.quotient(term.factors, factor);
      value = makeMonomial(expr.getContext(), rest, term.coefficient / *k) * atom.lhs;
      changed = true;
      break;
    }
    sum.add(value);
  }
  return changed ? sum.build() : expr;
}

SymExpr SymFacts::simplify(SymExpr expr) const {
  const Problem &equalities = impl->getEqualities();
  if (equalities.contradiction || expr.isOverflow())
    return expr;
  SymExpr zero = SymExpr::constant(impl->context, 0), one = zero + 1;
  auto decideAtom = [&](SymExpr atom) -> SymExpr {
    const SymExprStorage &node = nodeOf(atom);
    SymExpr a = node.lhs, b = node.rhs;
    if (node.kind == NodeKind::Pos) {
      if (proveLE(zero, a) == Proof::Yes)
        return a;
      return proveLE(a, zero) == Proof::Yes ? zero : SymExpr();
    }
    if (node.kind != NodeKind::BCast)
      return {};
    Proof aIsOne = proveEqual(a, one), bIsOne = proveEqual(b, one);
    if (aIsOne == Proof::Yes || bIsOne == Proof::No)
      return b;
    if (bIsOne == Proof::Yes || aIsOne == Proof::No || proveEqual(a, b) == Proof::Yes)
      return a;
    // As a whole: `a == b or b == 1` gives a.
    if (proveEqual(atom, a) == Proof::Yes)
      return a;
    return proveEqual(atom, b) == Proof::Yes ? b : SymExpr();
  };
  SymExpr result = rewriteAtoms(
      equalities.rewrite(expr), [](SymExpr part) { return nodeOf(part).depth != 0; }, decideAtom);
  return nodeOf(result).depth == 0 ? result : multiplyOutDivisions(*this, result);
}
