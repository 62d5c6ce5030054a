//===- SymFacts.h - What is known about symbols, and proofs from it ----------------------------===//
//
// A predicate is `a == b`, `a <= b`, or an `or` of those; ranges, divisibility and relations are all predicates. Facts are an
// immutable conjunction of predicates. A proof answers Yes, No or Unknown, and Yes or No are never wrong:
//
//   SymFacts facts = SymFacts(context).with(SymPred::le(one, n)).with(SymPred::equal(SymExpr::mod(n, 8), zero));
//   facts.proveEqual(SymExpr::floordiv(n, 4) * 4, n)       // Proof::Yes
//
// Every symbol is an integer with 0 <= symbol <= 2^31 - 1 unless the facts bound it more tightly.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMFACTS_H
#define WEFT_DIALECTS_SYMBOLIC_SYMFACTS_H

#include "dialects/symbolic/SymExpr.h"
#include <memory>

namespace weft {

constexpr int64_t kMaxSymbolValue = (int64_t(1) << 31) - 1;

/// `lhs == rhs` or `lhs <= rhs`.
struct SymRelation {
  enum Kind { Equal, LessEqual } kind;
  SymExpr lhs, rhs;
  bool operator==(const SymRelation &o) const {
    return kind == o.kind && lhs == o.lhs && rhs == o.rhs;
  }
};

/// A disjunction of relations; one in the usual case. `<`, `>=`, `>` and `mod(a, k) == 0` are spellings.
class SymPred {
public:
  static SymPred equal(SymExpr a, SymExpr b);
  static SymPred le(SymExpr a, SymExpr b);
  static SymPred either(llvm::ArrayRef<SymPred> alternatives);

  llvm::ArrayRef<SymRelation> relations() const { return clauses; }
  SymPred substitute(const SymMap &map) const;
  mlir::FailureOr<bool> evaluate(const SymValues &values) const;
  llvm::SmallVector<mlir::StringAttr> symbols() const;
  std::string str() const; ///< `1 <= s`, `mod(p, 16) == 0`, `ps == p + s or ps == 1`
  bool operator==(const SymPred &o) const { return clauses == o.clauses; }

private:
  llvm::SmallVector<SymRelation, 1> clauses;
};

llvm::Expected<SymPred> parseSymPred(mlir::MLIRContext *context, llvm::StringRef text);
mlir::FailureOr<SymPred> parseSymPred(mlir::AsmParser &parser);

enum class Proof { Yes, No, Unknown };

/// Either end may be absent.
struct SymInterval {
  std::optional<int64_t> low, high;
};

class SymFacts {
public:
  explicit SymFacts(mlir::MLIRContext *context);
  SymFacts with(SymPred fact) const;
  llvm::ArrayRef<SymPred> facts() const;

  Proof prove(const SymPred &goal) const;
  Proof proveEqual(SymExpr a, SymExpr b) const;
  Proof proveLE(SymExpr a, SymExpr b) const;
  /// Safe bounds from intervals of the symbols; exact when every symbol occurs once with one sign.
  SymInterval bounds(SymExpr expr) const;
  /// Largest known k >= 1 with k | symbol.
  int64_t divisor(mlir::StringAttr symbol) const;
  /// Drops pos and bcast whose case is proved, applies solved equalities (symbol == expression).
  SymExpr simplify(SymExpr expr) const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

} // namespace weft

#endif // WEFT_DIALECTS_SYMBOLIC_SYMFACTS_H
