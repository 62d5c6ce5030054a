//===- Infeasibility.h - Which rows of a linear system contradict each other -------------------===//
//
// Private to this folder. A search in floating point for a combination of rows that adds up to a false statement (Farkas' lemma). It
// names candidates only: the caller checks them exactly, which is quick because they are few.
//
//   rows: {1, 0, -3} reads x0 - 3 >= 0
//   std::optional<SmallVector<unsigned>> rows = findContradictingRows(matrix, equalities);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_INFEASIBILITY_H
#define WEFT_DIALECTS_SYMBOLIC_INFEASIBILITY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft::symbolic {

struct LinearRow {
  llvm::SmallVector<int64_t, 16> values; ///< one coefficient per variable, then the constant
  bool equality = false;                 ///< == 0, else >= 0
};

/// Rows that probably have no common rational solution, or nothing. The answer depends on nothing but the input.
std::optional<llvm::SmallVector<unsigned, 8>> findContradictingRows(llvm::ArrayRef<LinearRow> rows);

} // namespace weft::symbolic

#endif // WEFT_DIALECTS_SYMBOLIC_INFEASIBILITY_H
