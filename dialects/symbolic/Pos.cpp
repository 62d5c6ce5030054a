//===- Pos.cpp - Normal form of pos(a) = max(0, a), and min and max as spellings of it ----------===//
//
// pos takes common factors out and makes the leading coefficient positive by pos(-a) = pos(a) - a. That alone makes min and max
// commutative and invariant under adding and scaling, and gives min + max = a + b.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Polynomial.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

/// The sum of the terms of one sign, taken positive.
static SymExpr partOf(SymExpr expr, bool positive) {
  SumBuilder sum(expr.getContext());
  for (const Term &term : nodeOf(expr).terms)
    if ((term.coefficient > 0) == positive)
      sum.add(term.coefficient, term.factors);
  SymExpr part = sum.build();
  return positive ? part : -part;
}

/// A lower bound of `term` in which `atom` (with power 1) is replaced, or null: k*floordiv(x, k) <= x <= k*floordiv(x, k) + k - 1,
/// x <= pos(x), and pos(x) <= the positive part of x. The other factors are not negative.
static SymExpr boundTerm(MLIRContext *context, const Term &term, SymExpr atom, Monomial others) {
  const SymExprStorage &node = nodeOf(atom);
  SymExpr scale = makeMonomial(context, others, term.coefficient);
  if (node.kind == NodeKind::Pos) {
    if (term.coefficient > 0)
      return scale * node.lhs;
    SymExpr bound = partOf(node.lhs, /*positive=*/true);
    return nodeOf(bound).nonNegative && nodeOf(partOf(node.lhs, false)).nonNegative ? scale * bound
                                                                                    : SymExpr();
  }
  ArrayRef<Term> divisor = nodeOf(node.rhs ? node.rhs : atom).terms;
  if (node.kind != NodeKind::FloorDiv || divisor.size() != 1 ||
      term.coefficient % divisor[0].coefficient != 0)
    return {};
  MonomialPool pool;
  std::optional<Monomial> rest = pool.quotient(others, divisor[0].factors);
  if (!rest)
    return {};
  scale = makeMonomial(context, *rest, term.coefficient / divisor[0].coefficient);
  return scale * (term.coefficient < 0 ? node.lhs : node.lhs - node.rhs + 1);
}

/// All ways to replace one atom of `term` by a bound.
static void appendBounds(MLIRContext *context, const Term &term, SmallVectorImpl<SymExpr> &bounds) {
  MonomialPool pool;
  for (const Factor &factor : term.factors) {
    if (factor.power != 1 || nodeOf(factor.atom).kind == NodeKind::Symbol)
      continue;
    Monomial others = *pool.quotient(term.factors, factor);
    if (llvm::any_of(others, [](const Factor &f) { return !nodeOf(f.atom).nonNegative; }))
      continue;
    if (SymExpr bound = boundTerm(context, term, factor.atom, others))
      bounds.push_back(bound);
  }
}

static bool knownNonNegative(SymExpr expr, unsigned steps) {
  const SymExprStorage &node = nodeOf(expr);
  if (node.nonNegative || node.kind == NodeKind::Overflow)
    return node.nonNegative;
  constexpr unsigned maxTerms = 12;
  if (steps == 0 || node.depth == 0 || node.terms.size() > maxTerms)
    return false;
  for (const Term &term : node.terms) {
    SmallVector<SymExpr, 2> bounds;
    appendBounds(expr.getContext(), term, bounds);
    SymExpr self = makeMonomial(expr.getContext(), term.factors, term.coefficient);
    for (SymExpr bound : bounds)
      if (knownNonNegative(expr - self + bound, steps - 1))
        return true;
  }
  return false;
}

bool symbolic::knownNonNegative(SymExpr expr) { return ::knownNonNegative(expr, 2); }

SymExpr SymExpr::pos(SymExpr a) {
  MLIRContext *context = a.getContext();
  if (a.isOverflow())
    return a;
  if (std::optional<int64_t> value = a.asConstant())
    return *value > 0 ? a : constant(context, 0);
  MonomialPool pool;
  ArrayRef<Term> terms = nodeOf(a).terms;
  Monomial common = pool.commonNonNegative(terms[0].factors, terms[0].factors);
  for (const Term &term : terms.drop_front())
    common = pool.commonNonNegative(common, term.factors);
  uint64_t content = contentOf(a, /*withConstant=*/true);
  if (content > uint64_t(INT64_MAX))
    return makeOverflow(context);
  if (content > 1 || !common.empty()) {
    SmallVector<Term, 8> rest;
    for (const Term &term : terms)
      rest.push_back({term.coefficient / int64_t(content), *pool.quotient(term.factors, common)});
    SymExpr scale = makeMonomial(context, common, int64_t(content));
    return scale * pos(makePolynomial(context, rest));
  }
  if (terms[0].coefficient < 0)
    return a + pos(-a);
  if (symbolic::knownNonNegative(a))
    return a;
  if (nodeOf(a).depth != 0 && symbolic::knownNonNegative(-a))
    return constant(context, 0);
  return makeAtom(NodeKind::Pos, a);
}

SymExpr SymExpr::max(SymExpr a, SymExpr b) { return a + pos(b - a); }
SymExpr SymExpr::min(SymExpr a, SymExpr b) { return a - pos(a - b); }
