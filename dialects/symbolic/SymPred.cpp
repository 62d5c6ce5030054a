//===- SymPred.cpp - Relations between expressions and alternatives of them --------------------===//
#include "dialects/symbolic/SymFacts.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;
using namespace weft;

SymPred SymPred::equal(SymExpr a, SymExpr b) {
  SymPred result;
  result.clauses.push_back({SymRelation::Equal, a, b});
  return result;
}

SymPred SymPred::le(SymExpr a, SymExpr b) {
  SymPred result;
  result.clauses.push_back({SymRelation::LessEqual, a, b});
  return result;
}

SymPred SymPred::either(ArrayRef<SymPred> alternatives) {
  SymPred result;
  for (const SymPred &alternative : alternatives)
    for (const SymRelation &relation : alternative.clauses)
      if (!llvm::is_contained(result.clauses, relation))
        result.clauses.push_back(relation);
  return result;
}

SymPred SymPred::substitute(const SymMap &map) const {
  SymPred result;
  for (const SymRelation &relation : clauses)
    result.clauses.push_back(
        {relation.kind, relation.lhs.substitute(map), relation.rhs.substitute(map)});
  return result;
}

FailureOr<bool> SymPred::evaluate(const SymValues &values) const {
  bool holds = false;
  for (const SymRelation &relation : clauses) {
    FailureOr<int64_t> lhs = relation.lhs.evaluate(values), rhs = relation.rhs.evaluate(values);
    if (failed(lhs) || failed(rhs))
      return failure();
    holds |= relation.kind == SymRelation::Equal ? *lhs == *rhs : *lhs <= *rhs;
  }
  return holds;
}

SmallVector<StringAttr> SymPred::symbols() const {
  SmallVector<StringAttr> all;
  for (const SymRelation &relation : clauses)
    for (SymExpr side : {relation.lhs, relation.rhs})
      llvm::append_range(all, side.symbols());
  llvm::sort(all, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string SymPred::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const SymRelation &relation : clauses) {
    os << (&relation == clauses.begin() ? "" : " or ") << relation.lhs
       << (relation.kind == SymRelation::Equal ? " == " : " <= ") << relation.rhs;
  }
  return text;
}
