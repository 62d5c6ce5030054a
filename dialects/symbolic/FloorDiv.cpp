//===- FloorDiv.cpp - Normal form of floordiv, and ceildiv and mod as spellings of it ----------===//
//
// floordiv(a, k) takes what is divisible out of the sum, makes the leading coefficient of the rest positive by
// floordiv(-x, k) = -floordiv(x + k - 1, k), cancels common factors, and joins nested divisions. All rules hold for every integer
// numerator and every positive divisor.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Polynomial.h"
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

/// floor(a / b) for b > 0.
static int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

namespace {
struct Division {
  int64_t quotient, remainder;
};
} // namespace

/// c = quotient * k + remainder with the remainder in (-k/2, k/2].
static Division divideCentered(int64_t c, int64_t k) {
  int64_t quotient = floorQuotient(c, k), remainder = c - quotient * k;
  if (remainder > k - remainder)
    return {quotient + 1, remainder - k};
  return {quotient, remainder};
}

/// The one term of `terms` that is floordiv(x, m) or -floordiv(x, m). Null when there are others with divisions besides it: which one
/// is joined would decide the form.
static const Term *onlyDivision(ArrayRef<Term> terms) {
  const Term *found = nullptr;
  for (const Term &term : terms)
    for (const Factor &factor : term.factors) {
      if (nodeOf(factor.atom).depth == 0)
        continue;
      bool isDivision = nodeOf(factor.atom).kind == NodeKind::FloorDiv && factor.power == 1 &&
                        term.factors.size() == 1 && std::abs(term.coefficient) == 1;
      if (found || !isDivision)
        return nullptr;
      found = &term;
    }
  return found;
}

/// floordiv(floordiv(x, m) + y, k) = floordiv(x + m*y, m*k) and floordiv(y - floordiv(x, m), k) = floordiv(m*y + m - 1 - x, m*k), when
/// `numerator` has that form and nothing overflows. Where a divisor is no constant, y must be one: products would only grow.
static SymExpr joinNested(SymExpr numerator, SymExpr divisor) {
  const Term *division = onlyDivision(nodeOf(numerator).terms);
  if (!division)
    return {};
  SymExpr atom = division->factors[0].atom, inner = nodeOf(atom).lhs, m = nodeOf(atom).rhs;
  SymExpr rest = addScaled(numerator, atom, -division->coefficient);
  bool constantDivisors = m.asConstant() && divisor.asConstant();
  if (!constantDivisors && (!rest.asConstant() || division->coefficient != 1))
    return {};
  SymExpr joined = m * rest + (division->coefficient == 1 ? inner : m - 1 - inner);
  SymExpr product = m * divisor;
  if (joined.isOverflow() || product.isOverflow())
    return {};
  return SymExpr::floordiv(joined, product);
}

/// Divides the coefficients by `content`, which divides all but the constant, and rounds that one down.
static SymExpr divideRoundingConstant(SymExpr expr, int64_t content) {
  SmallVector<Term, 8> terms;
  for (const Term &term : nodeOf(expr).terms)
    if (int64_t coefficient = floorQuotient(term.coefficient, content))
      terms.push_back({coefficient, term.factors});
  return makePolynomial(expr.getContext(), terms);
}

static SymExpr floordivByConstant(SymExpr a, int64_t k) {
  MLIRContext *context = a.getContext();
  if (k == 1)
    return a;
  SmallVector<Term, 8> quotientTerms, restTerms;
  for (const Term &term : nodeOf(a).terms) {
    Division d = divideCentered(term.coefficient, k);
    if (term.factors.empty()) {
      d.quotient = floorQuotient(term.coefficient, k);
      d.remainder = term.coefficient - d.quotient * k;
    }
    if (d.quotient != 0)
      quotientTerms.push_back({d.quotient, term.factors});
    if (d.remainder != 0)
      restTerms.push_back({d.remainder, term.factors});
  }
  SymExpr quotient = makePolynomial(context, quotientTerms);
  if (restTerms.empty() || restTerms[0].factors.empty())
    return quotient;
  SymExpr rest = makePolynomial(context, restTerms);
  if (restTerms[0].coefficient < 0)
    return quotient - floordivByConstant(SymExpr::constant(context, k - 1) - rest, k);
  int64_t common = int64_t(std::gcd(contentOf(rest, /*withConstant=*/false), uint64_t(k)));
  if (common > 1)
    return quotient + floordivByConstant(divideRoundingConstant(rest, common), k / common);
  SymExpr divisor = SymExpr::constant(context, k);
  if (SymExpr joined = joinNested(rest, divisor))
    return quotient + joined;
  return quotient + makeAtom(NodeKind::FloorDiv, rest, divisor);
}

namespace {
struct PolynomialDivision {
  SymExpr quotient, remainder;
};
} // namespace

/// a = quotient * b + remainder by repeated division by the leading term of b; no term of the remainder has a multiple of b's leading
/// monomial with a coefficient outside (-|c|/2, |c|/2]. The remainder is the same for a and a + t*b.
static PolynomialDivision dividePolynomials(SymExpr a, SymExpr b) {
  MLIRContext *context = a.getContext();
  const Term &lead = nodeOf(b).terms[0];
  SymExpr quotient = SymExpr::constant(context, 0), work = a;
  SmallVector<Term, 8> rest;
  MonomialPool pool;
  constexpr unsigned maxSteps = 1024;
  for (unsigned step = 0; !work.isOverflow() && !nodeOf(work).terms.empty(); ++step) {
    if (step == maxSteps)
      return {SymExpr::constant(context, 0), a};
    Term term = nodeOf(work).terms[0];
    std::optional<Monomial> factors = pool.quotient(term.factors, lead.factors);
    if (factors && lead.coefficient != INT64_MIN) {
      int64_t size = std::abs(lead.coefficient);
      Division d = divideCentered(term.coefficient, size);
      if (d.quotient != 0) {
        int64_t coefficient = lead.coefficient < 0 ? -d.quotient : d.quotient;
        SymExpr part = makeMonomial(context, *factors, coefficient);
        quotient = quotient + part;
        work = work - part * b;
        continue;
      }
    }
    rest.push_back(term);
    work = makePolynomial(context, nodeOf(work).terms.drop_front());
  }
  if (work.isOverflow() || quotient.isOverflow())
    return {SymExpr::constant(context, 0), a};
  return {quotient, makePolynomial(context, rest)};
}

/// Removes a monomial and a number that both operands have in common. Only atoms that cannot be negative are cancelled, so that the
/// divisor stays positive.
static std::pair<SymExpr, SymExpr> cancelCommon(SymExpr numerator, SymExpr divisor) {
  uint64_t content = std::gcd(contentOf(numerator, /*withConstant=*/false),
                              contentOf(divisor, /*withConstant=*/true));
  if (content > 1 && content <= uint64_t(INT64_MAX)) {
    numerator = divideRoundingConstant(numerator, int64_t(content));
    divisor = divideExactly(divisor, int64_t(content));
  }
  MonomialPool pool;
  std::optional<Monomial> common;
  for (SymExpr expr : {numerator, divisor})
    for (const Term &term : nodeOf(expr).terms)
      common = common ? pool.commonNonNegative(*common, term.factors)
                      : pool.commonNonNegative(term.factors, term.factors);
  if (!common || common->empty())
    return {numerator, divisor};
  auto cancel = [&](SymExpr expr) {
    SmallVector<Term, 8> terms;
    for (const Term &term : nodeOf(expr).terms)
      terms.push_back({term.coefficient, *pool.quotient(term.factors, *common)});
    return makePolynomial(expr.getContext(), terms);
  };
  return {cancel(numerator), cancel(divisor)};
}

SymExpr SymExpr::floordiv(SymExpr a, SymExpr b) {
  MLIRContext *context = a.getContext();
  if (a.isOverflow() || b.isOverflow())
    return makeOverflow(context);
  if (std::optional<int64_t> k = b.asConstant())
    return *k > 0 ? floordivByConstant(a, *k) : makeOverflow(context);
  auto [quotient, rest] = dividePolynomials(a, b);
  ArrayRef<Term> terms = nodeOf(rest).terms;
  if (terms.empty())
    return quotient;
  if (terms[0].coefficient < 0) // floordiv(-x, q) = -1 - floordiv(x - 1, q)
    return quotient - 1 - floordiv(constant(context, -1) - rest, b);
  auto [numerator, divisor] = cancelCommon(rest, b);
  if (numerator != rest || divisor != b)
    return quotient + floordiv(numerator, divisor);
  if (SymExpr joined = joinNested(numerator, divisor))
    return quotient + joined;
  return quotient + makeAtom(NodeKind::FloorDiv, numerator, divisor);
}

SymExpr SymExpr::ceildiv(SymExpr a, SymExpr b) { return floordiv(a + b - 1, b); }
SymExpr SymExpr::mod(SymExpr a, SymExpr b) { return a - b * floordiv(a, b); }

SymExpr SymExpr::floordiv(SymExpr a, int64_t b) { return floordiv(a, constant(a.getContext(), b)); }
SymExpr SymExpr::ceildiv(SymExpr a, int64_t b) { return ceildiv(a, constant(a.getContext(), b)); }
SymExpr SymExpr::mod(SymExpr a, int64_t b) { return mod(a, constant(a.getContext(), b)); }
