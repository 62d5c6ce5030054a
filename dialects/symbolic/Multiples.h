//===- Multiples.h - Expressions that divide others without a rest ----------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_MULTIPLES_H
#define WEFT_DIALECTS_SYMBOLIC_MULTIPLES_H

#include "dialects/symbolic/SymExpr.h"

namespace weft {

/// The q with a = q*b for all values, of a `b` of one term; null when there is none.
SymExpr exactQuotient(SymExpr a, SymExpr b);
/// The least common multiple, or null when it is not known.
SymExpr commonMultiple(SymExpr a, SymExpr b);

} // namespace weft

#endif // WEFT_DIALECTS_SYMBOLIC_MULTIPLES_H
