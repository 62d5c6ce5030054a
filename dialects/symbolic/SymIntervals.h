//===- SymIntervals.h - Ranges of symbols and of expressions over them -------------------------===//
//
// Private to this folder. Interval arithmetic on the normal form and on its spelled form, whichever is tighter:
//
//   Intervals ranges;
//   ranges.restrict(facts);                  // n - 1 >= 0, 2048 - n*m >= 0, ... narrow n and m
//   SymInterval range = ranges.of(expr);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMINTERVALS_H
#define WEFT_DIALECTS_SYMBOLIC_SYMINTERVALS_H

#include "dialects/symbolic/Polynomial.h"
#include "dialects/symbolic/SymFacts.h"
#include <mutex>
#include <optional>

namespace weft::symbolic {

/// expr == 0 or expr >= 0.
struct Constraint {
  bool equality;
  SymExpr expr;
  bool operator==(const Constraint &other) const {
    return equality == other.equality && expr == other.expr;
  }
};

/// Ranges that were computed before. Facts are shared by all who have the same, in any threads.
class KnownRanges {
public:
  KnownRanges() = default;
  KnownRanges(const KnownRanges &other) : ranges(other.copy()) {}
  KnownRanges &operator=(const KnownRanges &other) {
    ranges = other.copy();
    return *this;
  }
  std::optional<SymInterval> find(SymExpr expr) const {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = ranges.find(expr);
    return found == ranges.end() ? std::nullopt : std::optional(found->second);
  }
  void add(SymExpr expr, SymInterval range) {
    std::lock_guard<std::mutex> lock(mutex);
    ranges[expr] = range;
  }
  void clear() { ranges.clear(); }

private:
  llvm::DenseMap<SymExpr, SymInterval> copy() const {
    std::lock_guard<std::mutex> lock(mutex);
    return ranges;
  }
  mutable std::mutex mutex;
  llvm::DenseMap<SymExpr, SymInterval> ranges;
};

class Intervals {
public:
  SymInterval of(SymExpr expr) const;
  SymInterval ofSymbol(mlir::StringAttr name) const;

  /// Narrows the ranges of symbols until nothing changes, in a few rounds. False when a range is empty: the constraints contradict
  /// each other.
  bool restrict(llvm::ArrayRef<Constraint> constraints);

private:
  bool restrictSymbol(mlir::StringAttr name, SymInterval range);
  bool restrictByNonNegative(SymExpr expr);
  SymInterval ofAtom(SymExpr atom) const;
  SymInterval ofProduct(llvm::ArrayRef<Factor> factors) const;
  SymInterval ofTerm(const Term &term) const;
  SymInterval ofPieces(SymExpr expr) const;

  llvm::SmallDenseMap<mlir::StringAttr, SymInterval, 8> symbols;
  /// Of expressions with functions inside, under these ranges: each is looked at as a sum and as it is spelled, and so is what is inside.
  mutable KnownRanges known;
  bool changed = false;
};

SymInterval addIntervals(SymInterval a, SymInterval b);
SymInterval intersectIntervals(SymInterval a, SymInterval b);
SymInterval uniteIntervals(SymInterval a, SymInterval b);

} // namespace weft::symbolic

#endif // WEFT_DIALECTS_SYMBOLIC_SYMINTERVALS_H
