//===- SymExpr.h - Integer expressions over symbols --------------------------------------------===//
//
// Dimensions, sizes and costs are integer polynomials over symbols with three further atoms: floordiv(a, k), pos(a) = max(0, a)
// and bcast(a, b) = (a == 1 ? b : a). Construction normalises, so equal normal forms are the same pointer:
//
//   SymExpr n = SymExpr::symbol(context, "n");
//   (4 * n + 1) == (1 + 2 * n + 2 * n)                     // true: pointer comparison
//   SymExpr::mod(n, 4).str()                               // "mod(n, 4)"
//
// An overflow of a coefficient gives a sticky poison value (isOverflow) that every operation keeps. So do division by a constant <= 0, and
// expressions of more than 16384 nodes or 60 nested functions. Whoever makes a floordiv emits the check `1 <= divisor` unless the divisor is
// constant, and whoever makes a bcast emits `a == b or a == 1 or b == 1`: normal forms keep the value only where these hold.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_SYMEXPR_H
#define WEFT_DIALECTS_SYMBOLIC_SYMEXPR_H

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mlir {
class AsmParser;
class Location;
class OpBuilder;
class Value;
class MLIRContext;
} // namespace mlir

namespace weft {

class SymExpr;

/// What is not a polynomial: a symbol, or one of the three functions.
enum class AtomKind { Symbol, FloorDiv, Pos, BCast };

struct SymTerm;

using SymMap = llvm::DenseMap<mlir::StringAttr, SymExpr>;
using SymValues = llvm::DenseMap<mlir::StringAttr, int64_t>;

/// A value of pointer size around an attribute that is uniqued in the context (`#sym.expr<...>`). Null when default-constructed.
class SymExpr {
public:
  SymExpr() = default;
  explicit SymExpr(mlir::Attribute impl) : impl(impl) {}

  static SymExpr constant(mlir::MLIRContext *context, int64_t value);
  static SymExpr symbol(mlir::StringAttr name);
  static SymExpr symbol(mlir::MLIRContext *context, llvm::StringRef name);

  friend SymExpr operator+(SymExpr a, SymExpr b);
  friend SymExpr operator-(SymExpr a, SymExpr b);
  friend SymExpr operator*(SymExpr a, SymExpr b);
  friend SymExpr operator+(SymExpr a, int64_t b);
  friend SymExpr operator-(SymExpr a, int64_t b);
  friend SymExpr operator*(SymExpr a, int64_t b);
  friend SymExpr operator-(SymExpr a);
  /// floor(a / b) for b > 0; likewise ceildiv, and mod with a result in [0, b).
  static SymExpr floordiv(SymExpr a, SymExpr b);
  static SymExpr ceildiv(SymExpr a, SymExpr b);
  static SymExpr mod(SymExpr a, SymExpr b);
  static SymExpr min(SymExpr a, SymExpr b);
  static SymExpr max(SymExpr a, SymExpr b);
  static SymExpr pos(SymExpr a);
  static SymExpr bcast(SymExpr a, SymExpr b);
  static SymExpr floordiv(SymExpr a, int64_t b);
  static SymExpr ceildiv(SymExpr a, int64_t b);
  static SymExpr mod(SymExpr a, int64_t b);

  bool operator==(SymExpr other) const { return impl == other.impl; }
  bool operator!=(SymExpr other) const { return impl != other.impl; }
  explicit operator bool() const { return bool(impl); }
  mlir::Attribute asAttribute() const { return impl; }
  mlir::MLIRContext *getContext() const { return impl.getContext(); }

  bool isOverflow() const;
  std::optional<int64_t> asConstant() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }
  /// The name when the expression is one symbol, else null.
  mlir::StringAttr asSymbol() const;
  /// All symbols inside, atoms included, sorted by name.
  llvm::ArrayRef<mlir::StringAttr> symbols() const;

  /// The sorted terms of the polynomial (a constant is a term without factors; zero has none).
  llvm::SmallVector<SymTerm, 4> terms() const;
  /// When the expression is exactly one atom: its kind and operands (FloorDiv, BCast: two; Pos: one; Symbol: none).
  std::optional<AtomKind> asAtom() const;
  llvm::SmallVector<SymExpr, 2> atomOperands() const;

  /// Replaces symbols; those not in `map` stay.
  SymExpr substitute(const SymMap &map) const;
  /// Fails when a symbol is missing, on overflow of int64, and on division by a value <= 0.
  mlir::FailureOr<int64_t> evaluate(const SymValues &values) const;

  /// Text for people, which parseSymExpr reads back to the same pointer: `b*s`, `4*n + 1`, `mod(h, 4)`, `ceildiv(s, 32)`, `min(s, 512)`.
  std::string str() const;

private:
  mlir::Attribute impl;
};

/// coefficient * product(atom ^ power). Atoms are expressions that consist of one atom.
struct SymTerm {
  int64_t coefficient;
  llvm::SmallVector<std::pair<SymExpr, unsigned>, 2> factors;
};

SymExpr operator+(SymExpr a, SymExpr b);
SymExpr operator-(SymExpr a, SymExpr b);
SymExpr operator*(SymExpr a, SymExpr b);
SymExpr operator+(SymExpr a, int64_t b);
SymExpr operator-(SymExpr a, int64_t b);
SymExpr operator*(SymExpr a, int64_t b);
SymExpr operator-(SymExpr a);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, SymExpr expr);

/// The hash of the pointer, for types and attributes that hold expressions.
inline llvm::hash_code hash_value(SymExpr expr) { return mlir::hash_value(expr.asAttribute()); }

/// Reads one expression from text in the grammar that str() prints, with `-` and parentheses. An error says what is wrong and where. Nesting
/// deeper than 64 is refused.
llvm::Expected<SymExpr> parseSymExpr(mlir::MLIRContext *context, llvm::StringRef text);
/// The same inside MLIR's text (attributes and types); reports through the parser.
mlir::FailureOr<SymExpr> parseSymExpr(mlir::AsmParser &parser);

/// Emits arith operations on i64 that compute `expr`; `symbolValue` gives an i64 value for a symbol. Shares subexpressions of this expression.
/// Division by constants and by non-negative values uses unsigned forms only where the sign is obvious; else arith.floordivsi.
mlir::Value emitSymExpr(mlir::OpBuilder &builder, mlir::Location loc, SymExpr expr,
                        llvm::function_ref<mlir::Value(mlir::StringAttr)> symbolValue);

} // namespace weft

namespace llvm {
template <> struct DenseMapInfo<weft::SymExpr> {
  static weft::SymExpr getEmptyKey() {
    return weft::SymExpr(DenseMapInfo<mlir::Attribute>::getEmptyKey());
  }
  static weft::SymExpr getTombstoneKey() {
    return weft::SymExpr(DenseMapInfo<mlir::Attribute>::getTombstoneKey());
  }
  static unsigned getHashValue(weft::SymExpr e) {
    return DenseMapInfo<mlir::Attribute>::getHashValue(e.asAttribute());
  }
  static bool isEqual(weft::SymExpr a, weft::SymExpr b) { return a == b; }
};
} // namespace llvm

namespace mlir {
/// Types and attributes with SymExpr parameters show them to AttrTypeReplacer as `#sym.expr`.
template <> struct AttrTypeSubElementHandler<weft::SymExpr> {
  static void walk(weft::SymExpr expr, AttrTypeImmediateSubElementWalker &walker) {
    walker.walk(expr.asAttribute());
  }
  static weft::SymExpr replace(weft::SymExpr expr, AttrSubElementReplacements &attributes,
                               TypeSubElementReplacements &) {
    if (!expr)
      return expr;
    return weft::SymExpr(attributes.take_front(1)[0]);
  }
};
} // namespace mlir

#endif // WEFT_DIALECTS_SYMBOLIC_SYMEXPR_H
