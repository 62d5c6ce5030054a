//===- SymSpelling.cpp - Finds mod, ceildiv, min and max in a normal form ----------------------===//
//
// Greedy: for each atom, try the spellings that could have produced it, and keep one when the sum has fewer parts afterwards.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/SymSpelling.h"

using namespace mlir;
using namespace weft;
using namespace weft::symbolic;

SymExpr Piece::special() const {
  switch (spelling) {
  case Spelling::Plain:
    return {};
  case Spelling::Mod:
    return SymExpr::mod(lhs, rhs);
  case Spelling::CeilDiv:
    return SymExpr::ceildiv(lhs, rhs);
  case Spelling::Min:
    return SymExpr::min(lhs, rhs);
  case Spelling::Max:
    return SymExpr::max(lhs, rhs);
  }
  return {};
}

Piece symbolic::spellAtom(SymExpr atom) {
  Piece piece;
  const SymExprStorage &node = nodeOf(atom);
  if (node.kind != NodeKind::FloorDiv)
    return piece;
  std::optional<int64_t> divisor = node.rhs.asConstant();
  if (!divisor || constantTerm(node.lhs) != *divisor - 1)
    return piece;
  piece.spelling = Spelling::CeilDiv;
  piece.lhs = node.lhs - (*divisor - 1);
  piece.rhs = node.rhs;
  return piece;
}

namespace {
/// A piece together with its value.
struct Candidate {
  Piece piece;
  SymExpr value;
};

class Speller {
public:
  explicit Speller(SymExpr expr) : context(expr.getContext()), rest(expr) {}

  SmallVector<Piece, 4> run() {
    while (nodeOf(rest).depth != 0 && takeOne())
      continue;
    for (const Term &term : nodeOf(rest).terms) {
      Candidate plain;
      plain.piece.coefficient = term.coefficient;
      plain.piece.factors.assign(term.factors.begin(), term.factors.end());
      plain.value = makeMonomial(context, term.factors);
      insert(std::move(plain));
    }
    SmallVector<Piece, 4> pieces;
    for (Candidate &candidate : found)
      pieces.push_back(std::move(candidate.piece));
    return pieces;
  }

private:
  static Monomial leading(SymExpr value) {
    ArrayRef<Term> terms = nodeOf(value).terms;
    return terms.empty() ? Monomial() : terms[0].factors;
  }

  void insert(Candidate candidate) {
    auto place = llvm::upper_bound(found, candidate, [](const Candidate &a, const Candidate &b) {
      return compareMonomials(leading(a.value), leading(b.value)) < 0;
    });
    found.insert(place, std::move(candidate));
  }

  void propose(int64_t coefficient, Monomial factors, Spelling spelling, SymExpr lhs, SymExpr rhs) {
    Candidate candidate;
    candidate.piece.coefficient = coefficient;
    candidate.piece.factors.assign(factors.begin(), factors.end());
    candidate.piece.spelling = spelling;
    candidate.piece.lhs = lhs;
    candidate.piece.rhs = rhs;
    candidate.value = makeMonomial(context, factors, coefficient) * candidate.piece.special();
    if (!candidate.value.isOverflow())
      candidates.push_back(std::move(candidate));
  }

  /// coefficient * others * floordiv(x, q): mod when the rest of the product is -u*q, or a nested mod, or a symbolic ceildiv.
  void proposeDivision(int64_t coefficient, Monomial others, const SymExprStorage &atom) {
    const Term &lead = nodeOf(atom.rhs).terms[0];
    std::optional<Monomial> scale = pool.quotient(others, lead.factors);
    if (scale && coefficient % lead.coefficient == 0 && coefficient != INT64_MIN)
      propose(-(coefficient / lead.coefficient), *scale, Spelling::Mod, atom.lhs, atom.rhs);
    std::optional<int64_t> divisor = atom.rhs.asConstant();
    if (divisor && coefficient < 0 && coefficient != INT64_MIN && *divisor % -coefficient == 0 &&
        -coefficient != *divisor && coefficient != -1)
      propose(1, others, Spelling::Mod, SymExpr::floordiv(atom.lhs, *divisor / -coefficient),
              SymExpr::constant(context, -coefficient));
    if (!divisor && constantTerm(atom.lhs) == -1)
      propose(coefficient, others, Spelling::CeilDiv, atom.lhs + 1, atom.rhs);
  }

  /// coefficient * others * pos(z) with z = positive - negative is min(positive, negative) or max of them plus something.
  void proposeExtremum(int64_t coefficient, Monomial others, const SymExprStorage &atom) {
    SumBuilder positive(context), negative(context);
    for (const Term &term : nodeOf(atom.lhs).terms) {
      if (term.coefficient == INT64_MIN)
        return;
      (term.coefficient > 0 ? positive : negative).add(std::abs(term.coefficient), term.factors);
    }
    SymExpr larger = positive.build(), smaller = negative.build();
    propose(coefficient, others, Spelling::Max, larger, smaller);
    if (coefficient != INT64_MIN)
      propose(-coefficient, others, Spelling::Min, larger, smaller);
  }

  void proposeFor(const Term &term) {
    for (const Factor &factor : term.factors) {
      const SymExprStorage &atom = nodeOf(factor.atom);
      if (factor.power != 1)
        continue;
      Monomial others = *pool.quotient(term.factors, factor);
      if (atom.kind == NodeKind::FloorDiv)
        proposeDivision(term.coefficient, others, atom);
      else if (atom.kind == NodeKind::Pos)
        proposeExtremum(term.coefficient, others, atom);
    }
  }

  /// Takes the first candidate that leaves fewer parts.
  bool takeOne() {
    ArrayRef<Term> terms = nodeOf(rest).terms;
    for (const Term &term : terms) {
      candidates.clear();
      proposeFor(term);
      for (Candidate &candidate : candidates) {
        SymExpr without = rest - candidate.value;
        if (without.isOverflow() || nodeOf(without).terms.size() + 1 >= terms.size())
          continue;
        rest = without;
        insert(std::move(candidate));
        return true;
      }
    }
    return false;
  }

  MLIRContext *context;
  SymExpr rest;
  MonomialPool pool;
  SmallVector<Candidate, 4> candidates, found;
};
} // namespace

SmallVector<Piece, 4> symbolic::spell(SymExpr expr) { return Speller(expr).run(); }
