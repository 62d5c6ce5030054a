//===- SymIntervals.cpp - Interval arithmetic and its propagation ------------------------------===//
//
// An absent end is infinite; every computation that would leave 64 bits gives an absent end.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymIntervals.h"
#include "dialects/symbolic/SymSpelling.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

using End = std::optional<int64_t>;

static End addEnds(End a, End b) {
  int64_t sum;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum))
    return std::nullopt;
  return sum;
}

static End multiplyEnds(End a, End b) {
  if ((a && *a == 0) || (b && *b == 0))
    return 0;
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product))
    return std::nullopt;
  return product;
}

static int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

SymInterval symbolic::addIntervals(SymInterval a, SymInterval b) {
  return {addEnds(a.low, b.low), addEnds(a.high, b.high)};
}

SymInterval symbolic::uniteIntervals(SymInterval a, SymInterval b) {
  SymInterval result;
  if (a.low && b.low)
    result.low = std::min(*a.low, *b.low);
  if (a.high && b.high)
    result.high = std::max(*a.high, *b.high);
  return result;
}

SymInterval symbolic::intersectIntervals(SymInterval a, SymInterval b) {
  if (!a.low || (b.low && *b.low > *a.low))
    a.low = b.low;
  if (!a.high || (b.high && *b.high < *a.high))
    a.high = b.high;
  return a;
}

static SymInterval scaleInterval(SymInterval a, int64_t factor) {
  if (factor < 0)
    std::swap(a.low, a.high);
  return {multiplyEnds(a.low, factor), multiplyEnds(a.high, factor)};
}

static SymInterval multiplyIntervals(SymInterval a, SymInterval b) {
  bool aPositive = a.low && *a.low >= 0, bPositive = b.low && *b.low >= 0;
  if (aPositive && bPositive)
    return {multiplyEnds(a.low, b.low), multiplyEnds(a.high, b.high)};
  SymInterval result;
  if (a.low && a.high && b.low && b.high) {
    SymInterval low = scaleInterval(b, *a.low), high = scaleInterval(b, *a.high);
    return uniteIntervals(low, high);
  }
  // One end at most is needed in practice: a product of one side that may be negative and one that is not.
  if (aPositive && b.high && *b.high <= 0)
    return {multiplyEnds(a.high, b.low), multiplyEnds(a.low, b.high)};
  if (bPositive && a.high && *a.high <= 0)
    return {multiplyEnds(b.high, a.low), multiplyEnds(b.low, a.high)};
  return result;
}

/// The divisor counts as at least 1.
static SymInterval divideIntervals(SymInterval a, SymInterval b) {
  int64_t least = b.low ? std::max<int64_t>(*b.low, 1) : 1;
  SymInterval result;
  if (b.high && *b.high < least)
    return result;
  if (a.low && *a.low < 0)
    result.low = floorQuotient(*a.low, least);
  else if (a.low)
    result.low = b.high ? *a.low / *b.high : 0;
  if (a.high && *a.high >= 0)
    result.high = *a.high / least;
  else if (a.high)
    result.high = b.high ? floorQuotient(*a.high, *b.high) : -1;
  return result;
}

SymInterval Intervals::ofSymbol(StringAttr name) const {
  auto found = symbols.find(name);
  return found == symbols.end() ? SymInterval{0, kMaxSymbolValue} : found->second;
}

SymInterval Intervals::ofAtom(SymExpr atom) const {
  const SymExprStorage &node = nodeOf(atom);
  switch (node.kind) {
  case NodeKind::Symbol:
    return ofSymbol(node.name);
  case NodeKind::FloorDiv:
    return divideIntervals(of(node.lhs), of(node.rhs));
  case NodeKind::Pos: {
    SymInterval range = of(node.lhs);
    range.low = std::max<int64_t>(range.low.value_or(0), 0);
    if (range.high)
      range.high = std::max<int64_t>(*range.high, 0);
    return range;
  }
  case NodeKind::BCast: {
    SymInterval lhs = of(node.lhs), rhs = of(node.rhs);
    if ((lhs.low && *lhs.low > 1) || (lhs.high && *lhs.high < 1))
      return lhs;
    return uniteIntervals(lhs, rhs);
  }
  case NodeKind::Polynomial:
  case NodeKind::Overflow:
    break;
  }
  return {};
}

SymInterval Intervals::ofProduct(ArrayRef<Factor> factors) const {
  SymInterval product{1, 1};
  for (const Factor &factor : factors) {
    SymInterval base = ofAtom(factor.atom), power = base;
    for (unsigned i = 1; i < factor.power && (power.low || power.high); ++i)
      power = multiplyIntervals(power, base);
    if (factor.power % 2 == 0)
      power.low = std::max<int64_t>(power.low.value_or(0), 0);
    product = multiplyIntervals(product, power);
  }
  return product;
}

SymInterval Intervals::ofTerm(const Term &term) const {
  return scaleInterval(ofProduct(term.factors), term.coefficient);
}

/// The range of the spelled form, which knows that a mod is below its divisor and a min below both sides.
SymInterval Intervals::ofPieces(SymExpr expr) const {
  SymInterval sum{0, 0};
  for (const Piece &piece : spell(expr)) {
    SymInterval range = ofProduct(piece.factors), special{1, 1};
    SymInterval lhs, rhs;
    if (piece.spelling != Spelling::Plain) {
      lhs = of(piece.lhs);
      rhs = of(piece.rhs);
    }
    switch (piece.spelling) {
    case Spelling::Plain:
      break;
    case Spelling::Mod:
      special = {0, rhs.high ? End(*rhs.high - 1) : End()};
      if (lhs.low && *lhs.low >= 0 && lhs.high && (!special.high || *lhs.high < *special.high))
        special.high = lhs.high;
      break;
    case Spelling::CeilDiv:
      special = addIntervals(divideIntervals(addIntervals(lhs, {-1, -1}), rhs), {1, 1});
      break;
    case Spelling::Min:
      special = uniteIntervals(lhs, rhs);
      special.high = lhs.high && (!rhs.high || *lhs.high < *rhs.high) ? lhs.high : rhs.high;
      break;
    case Spelling::Max:
      special = uniteIntervals(lhs, rhs);
      special.low = lhs.low && (!rhs.low || *lhs.low > *rhs.low) ? lhs.low : rhs.low;
      break;
    }
    sum = addIntervals(sum, scaleInterval(multiplyIntervals(range, special), piece.coefficient));
  }
  return sum;
}

SymInterval Intervals::of(SymExpr expr) const {
  if (expr.isOverflow())
    return {};
  if (isAtom(expr))
    return ofAtom(expr);
  bool isDeep = nodeOf(expr).depth > 0;
  if (auto found = isDeep ? known.find(expr) : std::nullopt)
    return *found;
  SymInterval sum{0, 0};
  for (const Term &term : nodeOf(expr).terms)
    sum = addIntervals(sum, ofTerm(term));
  if (!isDeep)
    return sum;
  SymInterval range = intersectIntervals(sum, ofPieces(expr));
  known.add(expr, range);
  return range;
}

bool Intervals::restrictSymbol(StringAttr name, SymInterval range) {
  SymInterval before = ofSymbol(name), after = intersectIntervals(before, range);
  if (after.low == before.low && after.high == before.high)
    return true;
  symbols[name] = after;
  known.clear();
  changed = true;
  return *after.low <= *after.high;
}

/// expr >= 0: the term with a symbol is at least minus the largest value of the others.
bool Intervals::restrictByNonNegative(SymExpr expr) {
  ArrayRef<Term> terms = nodeOf(expr).terms;
  MonomialPool pool;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term &term = terms[i];
    SymInterval others{0, 0};
    for (size_t k = 0; k < terms.size(); ++k)
      if (k != i)
        others = addIntervals(others, ofTerm(terms[k]));
    if (!others.high || *others.high == INT64_MIN)
      continue;
    for (const Factor &factor : term.factors) {
      StringAttr name = factor.atom.asSymbol();
      SymInterval rest = ofProduct(*pool.quotient(term.factors, Factor{factor.atom, 1}));
      if (!name || !rest.low || *rest.low < 0 || term.coefficient == INT64_MIN)
        continue;
      SymInterval range;
      if (term.coefficient < 0 && *rest.low >= 1) { // symbol * rest <= high / |c|
        int64_t most = floorQuotient(*others.high, -term.coefficient);
        range.high = floorQuotient(most, *rest.low);
      } else if (term.coefficient > 0 && rest.high &&
                 *rest.high >= 1) { // symbol * rest >= -high / c
        int64_t least = -floorQuotient(*others.high, term.coefficient);
        range.low = least <= 0 ? 0 : -floorQuotient(-least, *rest.high);
      }
      if (!restrictSymbol(name, range))
        return false;
    }
  }
  return true;
}

bool Intervals::restrict(ArrayRef<Constraint> constraints) {
  constexpr unsigned maxRounds = 4;
  changed = true;
  for (unsigned round = 0; round < maxRounds && changed; ++round) {
    changed = false;
    for (const Constraint &constraint : constraints) {
      if (!restrictByNonNegative(constraint.expr) ||
          (constraint.equality && !restrictByNonNegative(-constraint.expr)))
        return false;
    }
  }
  return true;
}
