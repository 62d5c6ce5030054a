//===- IterationRule.h - How an operator's dimensions walk over named factors ------------------===//
//
// A rule is text such as `b i k, b k j -> b i j` and, bound to types, a set of factors with extents plus one access per dimension
// of every operand and result. The operator's result at a point of the result factors combines, over the absent (reduced)
// factors, a scalar function of the operand elements at that point.
//
//   access as written   meaning
//   i                   the factor
//   (h d)               row-major merge h*size(d) + d
//   2*p+x-1             window: affine, may leave the operand (then the operator's padding value is read); {expr} is a symbolic number
//   m?                  0 when the dimension is 1, else the factor
//   s~                  each result point needs the whole line
//   n>                  prefix in order
//   n!                  must be whole
//   1                   nothing to iterate
//   ...                 any number of leading dimensions, aligned at the right; literal 1s are fixed
//
// After `:` the combiner (default sum, of which nobody may make parts); after `;` extents that no point access determines: `n 2*p+x-1 -> n p : max ; x = 3`.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_ITERATIONRULE_H
#define WEFT_DIALECTS_WEFT_INTERFACES_ITERATIONRULE_H

#include "dialects/symbolic/SymExpr.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>
#include <optional>

namespace mlir {
class Operation;
class InFlightDiagnostic;
} // namespace mlir

namespace weft {

enum class AccessKind { Fixed, Point, Merge, Window, Maybe, Coupled, Ordered, Whole };

struct Factor {
  std::string name;
  SymExpr extent;
  bool reduced; ///< does not occur in any result
};

/// The index along one dimension: offset + sum(coefficient * factor).
struct Access {
  struct Term {
    SymExpr coefficient;
    unsigned factor;
  };
  AccessKind kind = AccessKind::Fixed;
  llvm::SmallVector<Term, 2> terms;
  SymExpr offset;
  /// The single factor of Point, Maybe, Coupled, Ordered and Whole.
  unsigned factor() const { return terms.front().factor; }
};

enum class Combiner { Sum, Prod, Max, Min, And, Or };

class IterationRule {
public:
  using Dims = llvm::SmallVector<Access, 4>;
  using Report = llvm::function_ref<void(const llvm::Twine &)>;

  /// Binds `text` to types. Result types may be null: then only their dimensions are computed (resultDims).
  static mlir::FailureOr<IterationRule> bind(llvm::StringRef text, mlir::TypeRange operands,
                                             mlir::TypeRange results, Report report);
  /// The text of a rule of one result with its dimensions in another order: dimension i is what order[i] was. Nothing when some of
  /// them are not written.
  static std::optional<std::string> reordered(llvm::StringRef text, llvm::ArrayRef<int64_t> order);
  /// The rule of a verified operation.
  static IterationRule of(mlir::Operation *op);

  llvm::ArrayRef<Factor> factors() const { return factorList; }
  llvm::ArrayRef<Access> operand(unsigned i) const { return operandAccesses[i]; }
  llvm::ArrayRef<Access> result(unsigned i) const { return resultAccesses[i]; }
  unsigned operandCount() const { return operandAccesses.size(); }
  unsigned resultCount() const { return resultAccesses.size(); }
  Combiner combiner() const { return combinerKind.value_or(Combiner::Sum); }
  /// By which results of parts of a reduced factor make the whole; nothing where the rule does not say it.
  std::optional<Combiner> namedCombiner() const { return combinerKind; }
  llvm::SmallVector<unsigned> reducedFactors() const;
  /// Product of all extents.
  SymExpr points() const;
  /// The dimensions of a result as the factors give them.
  llvm::SmallVector<SymExpr> resultDims(unsigned i) const;

  /// Whether every dimension of every tensor is one of `...`: elements are computed from those at the same place.
  bool isPointwise() const;
  /// Whether `...` is written anywhere.
  bool hasEllipsis() const;
  /// Whether operand `i` is written with `...`, also where that stands for no dimension.
  bool hasEllipsis(unsigned i) const { return operandForms[i].ellipsis != Ellipsis::None; }
  /// Whether dimensions are extents and nothing else: none is taken apart, and no number is an expression over symbols.
  bool seesExtentsOnly() const;
  /// The most dimensions named behind a `...`, when the rule is indifferent to how those in front are cut: results begin with `...`,
  /// operands begin with it or have none, and dimensions are extents only. Else nothing.
  std::optional<unsigned> namedTail() const;

private:
  friend class RuleBinder;
  enum class Ellipsis { None, First, Later };
  /// How a tensor's dimensions are written: the place of `...` and the number of others.
  struct Form {
    Ellipsis ellipsis = Ellipsis::None;
    unsigned named = 0;
  };
  llvm::SmallVector<Factor, 6> factorList;
  llvm::SmallVector<Dims, 3> operandAccesses, resultAccesses;
  llvm::SmallVector<Form, 3> operandForms, resultForms;
  std::optional<Combiner> combinerKind;
};

/// Layers of a model are alike, passes ask for the same rules again, and binding one reads text and compares expressions: each is
/// bound once in a context. Any number of threads may ask.
class RuleMemo {
public:
  static std::string keyOf(llvm::StringRef text, mlir::TypeRange operands, mlir::TypeRange results);
  std::optional<IterationRule> find(llvm::StringRef key) const;
  void add(llvm::StringRef key, const IterationRule &rule);

private:
  /// A context may live as long as a tool: more are forgotten.
  static constexpr unsigned kMost = 1 << 14;
  mutable std::mutex mutex;
  llvm::StringMap<IterationRule> rules;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_ITERATIONRULE_H
