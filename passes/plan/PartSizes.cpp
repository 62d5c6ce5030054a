//===- PartSizes.cpp ------------------------------------------------------------------------------===//

#include "passes/plan/PartSizes.h"

using namespace mlir;

namespace weft {
namespace {

/// A term k * pos(x).
bool isBeyond(const SymTerm &term) {
  return term.factors.size() == 1 && term.factors[0].second == 1 &&
         term.factors[0].first.asAtom() == AtomKind::Pos;
}

SymExpr insideOf(const SymTerm &term) { return term.factors[0].first.atomOperands()[0]; }

SymExpr valueOf(const SymTerm &term, MLIRContext *context) {
  SymExpr product = SymExpr::constant(context, term.coefficient);
  for (auto [atom, power] : term.factors)
    for (unsigned i = 0; i < power; ++i)
      product = product * atom;
  return product;
}

/// Where a part begins and ends beyond the dimension it is cut off: k * (pos(begin - n) - pos(end - n)), which is never above 0.
SymExpr withoutCutOff(SymExpr size, const SymFacts &facts) {
  auto terms = size.terms();
  SmallVector<bool> dropped(terms.size());
  for (auto [i, end] : llvm::enumerate(terms))
    for (auto [j, begin] : llvm::enumerate(terms))
      if (!dropped[i] && !dropped[j] && isBeyond(end) && isBeyond(begin) && end.coefficient < 0 &&
          begin.coefficient == -end.coefficient &&
          facts.proveLE(insideOf(begin), insideOf(end)) == Proof::Yes)
        dropped[i] = dropped[j] = true;
  SymExpr sum = SymExpr::constant(size.getContext(), 0);
  for (auto [isDropped, term] : llvm::zip_equal(dropped, terms))
    if (!isDropped)
      sum = sum + valueOf(term, size.getContext());
  return sum;
}

StringAttr placeIn(SymExpr size) {
  for (StringAttr name : size.symbols())
    if (name.getValue().starts_with("rank_"))
      return name;
  return {};
}

/// What it is on the rank where it is largest, if that is the same rank whatever sizes are; else as it is.
SymExpr atLargest(SymExpr size, const SymFacts &facts) {
  constexpr int64_t kMostPlaces = 64;
  StringAttr place = placeIn(size);
  std::optional<int64_t> last = place ? facts.bounds(SymExpr::symbol(place)).high : std::nullopt;
  if (!last || *last >= kMostPlaces)
    return size;
  SymExpr largest;
  for (int64_t at = 0; at <= *last; ++at) {
    SymMap there;
    there[place] = SymExpr::constant(size.getContext(), at);
    SymExpr here = size.substitute(there);
    if (!largest || facts.proveLE(largest, here) == Proof::Yes)
      largest = here;
    else if (facts.proveLE(here, largest) != Proof::Yes)
      return size;
  }
  return atLargest(largest, facts);
}

} // namespace

SymTensorType largestParts(SymTensorType type, const SymFacts &facts) {
  SmallVector<SymExpr> dims = type.getDims();
  for (SymExpr &dim : dims)
    if (placeIn(dim))
      dim = atLargest(withoutCutOff(dim, facts), facts);
  return SymTensorType::get(dims, type.getElementType());
}

} // namespace weft
