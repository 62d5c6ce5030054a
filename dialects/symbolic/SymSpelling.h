//===- SymSpelling.h - The normal form written with mod, ceildiv, min and max ------------------===//
//
// Private to this folder. Splits a polynomial into pieces whose sum it is, and finds in them what was called mod, ceildiv, min or max
// before normalisation. Printing, emission and bounds work on pieces:
//
//   for (const Piece &piece : spell(expr))      // n - 4*floordiv(n, 4) + 1 is mod(n, 4) and 1
//     use(piece.coefficient, piece.factors, piece.spelling, piece.lhs, piece.rhs);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMSPELLING_H
#define WEFT_DIALECTS_SYMBOLIC_SYMSPELLING_H

#include "dialects/symbolic/Polynomial.h"

namespace weft::symbolic {

enum class Spelling { Plain, Mod, CeilDiv, Min, Max };

/// coefficient * factors * spelling(lhs, rhs); without the last for Plain.
struct Piece {
  int64_t coefficient = 1;
  llvm::SmallVector<Factor, 2> factors;
  Spelling spelling = Spelling::Plain;
  SymExpr lhs, rhs;

  /// The value of spelling(lhs, rhs).
  SymExpr special() const;
};

/// Pieces whose sum is `expr`, sorted by their leading monomials. Never more pieces than terms.
llvm::SmallVector<Piece, 4> spell(SymExpr expr);

/// ceildiv(lhs, rhs) for a FloorDiv atom by a constant that is better read so, else Plain.
Piece spellAtom(SymExpr atom);

} // namespace weft::symbolic

#endif // WEFT_DIALECTS_SYMBOLIC_SYMSPELLING_H
