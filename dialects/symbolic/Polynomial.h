//===- Polynomial.h - Nodes of the normal form and arithmetic on sorted terms ------------------===//
//
// Private to this folder. A node is a polynomial (sorted terms) or one atom; an atom's `terms` hold the atom itself, so that code
// for polynomials needs no special case:
//
//   for (const Term &term : nodeOf(expr).terms)     // leading monomial first, the constant last
//     use(term.coefficient, term.factors);
//
// The order of monomials is graded lexicographic over a structural order of atoms: it respects multiplication (polynomial division
// needs that) and depends on no pointer (equal programs print equally in every run).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_SYMBOLIC_POLYNOMIAL_H
#define WEFT_DIALECTS_SYMBOLIC_POLYNOMIAL_H

#include "dialects/symbolic/SymExpr.h"
#include "mlir/IR/AttributeSupport.h"
#include <forward_list>

namespace weft::symbolic {

/// Atoms first, in the order in which they sort inside a monomial.
enum class NodeKind : uint8_t { Symbol, FloorDiv, Pos, BCast, Polynomial, Overflow };

struct Factor {
  SymExpr atom;
  unsigned power;
  bool operator==(const Factor &other) const { return atom == other.atom && power == other.power; }
};
using Monomial = llvm::ArrayRef<Factor>;

struct Term {
  int64_t coefficient;
  Monomial factors;
  bool operator==(const Term &other) const {
    return coefficient == other.coefficient && factors == other.factors;
  }
};

struct NodeKey {
  NodeKind kind;
  llvm::ArrayRef<Term> terms; // Polynomial
  mlir::StringAttr name;      // Symbol
  SymExpr lhs, rhs;           // FloorDiv, BCast; Pos has lhs only
};

/// An expression may have this many nodes and this many nested atoms; above, it becomes the poison value. Both limits keep hostile
/// text from costing more than it should, and the depth keeps printed text within what the parser accepts.
constexpr unsigned kMaxNodes = 1 << 14;
constexpr unsigned kMaxDepth = 60;

struct SymExprStorage : mlir::AttributeStorage {
  using KeyTy = NodeKey;
  bool operator==(const KeyTy &key) const;
  static llvm::hash_code hashKey(const KeyTy &key);
  static SymExprStorage *construct(mlir::AttributeStorageAllocator &allocator, const KeyTy &key);

  NodeKind kind;
  bool nonNegative = false; ///< no negative coefficient, and every atom is >= 0 by its form
  uint16_t depth = 0;       ///< nesting of atoms; a symbol has none
  uint32_t size = 0;        ///< nodes of the expression written as a tree, saturated
  llvm::ArrayRef<Term> terms;
  mlir::StringAttr name;
  SymExpr lhs, rhs;
  llvm::ArrayRef<mlir::StringAttr> symbols;
};

inline const SymExprStorage &nodeOf(SymExpr expr) {
  return *static_cast<const SymExprStorage *>(expr.asAttribute().getImpl());
}
inline bool isOverflow(SymExpr expr) { return nodeOf(expr).kind == NodeKind::Overflow; }
inline bool isAtom(SymExpr expr) { return nodeOf(expr).kind < NodeKind::Polynomial; }

SymExpr makeOverflow(mlir::MLIRContext *context);
/// An atom with these operands as they are: callers have brought them into normal form.
SymExpr makeAtom(NodeKind kind, SymExpr lhs, SymExpr rhs = SymExpr());
/// `terms` are sorted, distinct and not zero. They are copied.
SymExpr makePolynomial(mlir::MLIRContext *context, llvm::ArrayRef<Term> terms);
SymExpr makeConstant(mlir::MLIRContext *context, int64_t value);
SymExpr makeMonomial(mlir::MLIRContext *context, Monomial factors, int64_t coefficient = 1);

/// Structural orders, < 0 when `a` sorts first. Leading monomials (high degree) sort first.
int compareExprs(SymExpr a, SymExpr b);
int compareMonomials(Monomial a, Monomial b);

/// a + scale * b.
SymExpr addScaled(SymExpr a, SymExpr b, int64_t scale);
SymExpr multiply(SymExpr a, SymExpr b);
SymExpr power(SymExpr base, unsigned exponent);
/// expr / divisor, when `divisor` divides every coefficient.
SymExpr divideExactly(SymExpr expr, int64_t divisor);
/// The greatest common divisor of the coefficients, with or without the constant term; 0 when there are none.
uint64_t contentOf(SymExpr expr, bool withConstant);
/// The value of the constant term.
int64_t constantTerm(SymExpr expr);

/// Collects terms in any order and sums equal monomials without intermediate overflow. The monomials must outlive build().
class SumBuilder {
public:
  explicit SumBuilder(mlir::MLIRContext *context) : context(context) {}
  void add(int64_t coefficient, Monomial factors);
  void add(SymExpr expr);
  SymExpr build();

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<Term, 8> terms;
  bool overflow = false;
};

/// Monomials made on the way to a polynomial; they live as long as the pool.
class MonomialPool {
public:
  Monomial product(Monomial a, Monomial b);
  /// a / b, when every factor of b is in a.
  std::optional<Monomial> quotient(Monomial a, Monomial b);
  /// The common factors; of those, only atoms that are >= 0 by their form.
  Monomial commonNonNegative(Monomial a, Monomial b);

private:
  std::forward_list<llvm::SmallVector<Factor, 4>> storage;
};

/// Rebuilds `expr` from its leaves. `replace` may give another value for a symbol, or for a function atom whose operands are rebuilt;
/// null keeps it. Parts for which `wanted` is false stay as they are.
SymExpr rewriteAtoms(SymExpr expr, llvm::function_ref<bool(SymExpr)> wanted,
                     llvm::function_ref<SymExpr(SymExpr)> replace);

/// True when expr >= 0 follows from its form for all symbols >= 0: a sum of such atoms, or of mod, min and max of them.
bool knownNonNegative(SymExpr expr);

} // namespace weft::symbolic

#endif // WEFT_DIALECTS_SYMBOLIC_POLYNOMIAL_H
