//===- Multiples.cpp --------------------------------------------------------------------------------===//

#include "dialects/symbolic/Multiples.h"
#include <numeric>

using namespace mlir;

namespace weft {

/// One term divided by another; null when something is left.
static SymExpr quotientOfTerms(const SymTerm &term, const SymTerm &by, MLIRContext *context) {
  if (by.coefficient <= 0 || term.coefficient % by.coefficient != 0)
    return {};
  SymExpr quotient = SymExpr::constant(context, term.coefficient / by.coefficient);
  unsigned found = 0;
  for (auto [atom, power] : term.factors) {
    unsigned left = power;
    for (auto [other, taken] : by.factors)
      if (other == atom && taken <= left)
        left -= taken, ++found;
    for (unsigned i = 0; i < left; ++i)
      quotient = quotient * atom;
  }
  return found == by.factors.size() ? quotient : SymExpr();
}

SymExpr exactQuotient(SymExpr a, SymExpr b) {
  if (a == b)
    return SymExpr::constant(a.getContext(), 1);
  SmallVector<SymTerm, 4> by = b.terms();
  SymExpr sum = SymExpr::constant(a.getContext(), 0);
  for (const SymTerm &term : a.terms()) {
    SymExpr quotient = by.size() == 1 ? quotientOfTerms(term, by[0], a.getContext()) : SymExpr();
    if (!quotient)
      return {};
    sum = sum + quotient;
  }
  return by.size() == 1 ? sum : SymExpr();
}

SymExpr commonMultiple(SymExpr a, SymExpr b) {
  if (exactQuotient(a, b))
    return a;
  if (exactQuotient(b, a))
    return b;
  std::optional<int64_t> first = a.asConstant(), second = b.asConstant();
  if (!first || !second || *first <= 0 || *second <= 0)
    return {};
  return SymExpr::constant(a.getContext(), *first) * (*second / std::gcd(*first, *second));
}

} // namespace weft
