//===- Reference.h - Values and calls of the reference semantics -------------------------------===//
//
// A reference tensor holds doubles (float types), int64 (integers, exact and wrapped to their width) or expressions (integers while
// shapes are folded). Operators compute on Scalars, one of the three:
//
//   Scalar AddOp::evaluateScalar(ArrayRef<Scalar> e) { return add(e[0], e[1]); }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_REFERENCE_REFERENCE_H
#define WEFT_DIALECTS_WEFT_REFERENCE_REFERENCE_H

#include "dialects/symbolic/SymFacts.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include <variant>
#include <vector>

namespace weft {

/// A null expression stands for a value that cannot be expressed (the fold gives up).
struct Scalar {
  enum Kind { Real, Integer, Symbolic } kind = Integer;
  double real = 0;
  int64_t integer = 0;
  SymExpr expr;
  static Scalar of(double v) { return {Real, v, 0, {}}; }
  static Scalar of(int64_t v) { return {Integer, 0, v, {}}; }
  static Scalar of(bool) = delete;
  static Scalar of(SymExpr e) { return {Symbolic, 0, 0, e}; }
  /// The value as a double whatever the kind (not for expressions).
  double asReal() const { return kind == Real ? real : double(integer); }
};

/// Row-major. Exactly one of the vectors is used, by kind.
struct RefTensor {
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> dims;
  Scalar::Kind kind = Scalar::Integer;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  std::vector<SymExpr> exprs;

  RefTensor() = default;
  /// Zeros. Float element types hold doubles, others integers unless `symbolic`.
  RefTensor(mlir::Type element, llvm::ArrayRef<int64_t> dims, bool symbolic = false);
  int64_t size() const;
  Scalar at(int64_t i) const;
  void set(int64_t i, const Scalar &value);
};

/// Reads elements from bytes in Weft's memory layout (little endian, int4 packed), and writes them back (rounding to the type).
RefTensor fromBytes(mlir::Type element, llvm::ArrayRef<int64_t> dims, const char *bytes);
void toBytes(const RefTensor &tensor, char *bytes);
/// Bits of one element.
unsigned elementBits(mlir::Type element);
/// Whether a tensor's elements are integers of 8 bits.
bool isByte(mlir::Value tensor);
/// ceil(count * bits / 8).
int64_t elementBytes(mlir::Type element, int64_t count);
/// Wraps to the width of an integer type, rounds to a float type.
int64_t wrapInteger(mlir::Type element, int64_t value);
double roundReal(mlir::Type element, double value);

/// One evaluation of one operation.
struct ReferenceCall {
  llvm::ArrayRef<const RefTensor *> inputs;
  llvm::SmallVector<RefTensor, 1> outputs;
  const SymValues *symbols = nullptr; ///< values of all symbols; null while shapes are folded
  const SymFacts *facts = nullptr;    ///< for proofs on expressions while shapes are folded
  /// The bytes of a named weight, null when there is none.
  std::function<const char *(llvm::StringRef)> weight;
  std::string error; ///< why evaluate failed
  mlir::LogicalResult fail(const llvm::Twine &why) {
    error = why.str();
    return mlir::failure();
  }
  /// An expression's value, or failure with `error` set.
  mlir::FailureOr<int64_t> value(SymExpr expr);
  mlir::FailureOr<llvm::SmallVector<int64_t, 4>> dims(mlir::Type tensor);
};

/// What a rank sends to others.
struct Sent {
  int64_t bytes = 0, messages = 0;
};

/// Two values combined, and the value that changes nothing. A nan wins a maximum and a minimum.
Scalar combineScalars(Combiner combiner, mlir::Type element, const Scalar &a, const Scalar &b);
Scalar identityScalar(Combiner combiner, mlir::Type element);

/// A position that names no element of a dimension.
struct OutsidePosition {
  int64_t position, size;
  llvm::SmallVector<int64_t, 4> index; ///< where it stands among the positions

  std::string text() const; ///< "index 40000 at [0, 3] is outside 0..30521"
};

/// The first that is outside, if one is. Positions in the last dimension have a size each where there are several.
std::optional<OutsidePosition> findOutside(const RefTensor &positions,
                                           llvm::ArrayRef<int64_t> sizes);

/// What an operation with ReferenceOpInterface gives, once its positions from data are found inside.
mlir::LogicalResult evaluateReference(mlir::Operation *op, ReferenceCall &call);

/// The default of ReferenceOpInterface::evaluate: interprets the rule with the operation's scalar function.
mlir::LogicalResult evaluateByRule(mlir::Operation *op, ReferenceCall &call);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_REFERENCE_REFERENCE_H
