//===- Element.h - Operators as code for one element (or one vector of elements) ---------------===//
//
// A kernel computes elements of its results by pulling elements of operands: ElementBuilder hides whether an operand is in memory,
// in registers, or computed by another operation of the same kernel, and how many lanes are computed at once.
//
//   Value GatherOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
//     IndexValue row = e.toIndex(e.operand(1, index.take_front(1)));
//     return e.operand(0, {row, index[1]});
//   }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_ELEMENT_H
#define WEFT_DIALECTS_WEFT_INTERFACES_ELEMENT_H

#include "dialects/symbolic/SymExpr.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include "dialects/weft/interfaces/Serial.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// An index along one dimension for all lanes: lane l has base + l * stride, or lanes[l] when `lanes` is set.
struct IndexValue {
  mlir::Value base; ///< i64
  int64_t stride = 0;
  mlir::Value lanes; ///< vector of i64; then base and stride are unused
  bool isUniform() const { return !lanes && stride == 0; }
};

class ElementBuilder {
public:
  virtual ~ElementBuilder() = default;
  mlir::ImplicitLocOpBuilder &builder() { return b; }

  /// Element(s) of operand `i` of the operation being emitted, in its compute type.
  virtual mlir::Value operand(unsigned i, llvm::ArrayRef<IndexValue> index) = 0;
  /// Of operand `i`, which has 256 elements of 8 bits, those at the bits of `bytes`.
  virtual mlir::Value lookUp(unsigned i, mlir::Value bytes) = 0;
  /// A symbolic expression as a uniform index.
  virtual IndexValue symbolic(SymExpr expr) = 0;

  IndexValue constant(int64_t value);
  IndexValue add(IndexValue a, IndexValue b);
  IndexValue sub(IndexValue a, IndexValue b);
  IndexValue mul(IndexValue a, IndexValue b);
  /// Quotient and remainder of non-negative indices.
  std::pair<IndexValue, IndexValue> divmod(IndexValue a, IndexValue b);
  /// i1 or vector of i1: a < b, a >= 0, a == b.
  mlir::Value less(IndexValue a, IndexValue b);
  mlir::Value nonNegative(IndexValue a);
  mlir::Value equal(IndexValue a, IndexValue b);

  /// Integer data as an index, and back as data of the integer or float type `element`.
  IndexValue toIndex(mlir::Value data);
  mlir::Value toData(IndexValue index, mlir::Type element);

  /// `body()` where `condition` holds, `otherwise` elsewhere. Loads inside the body happen only where it holds.
  virtual mlir::Value guarded(mlir::Value condition, llvm::function_ref<mlir::Value()> body,
                              mlir::Value otherwise) = 0;
  /// Folds `body` over the box of `extents` in row-major order, starting from `init`.
  virtual mlir::Value
  fold(llvm::ArrayRef<SymExpr> extents, mlir::Value init,
       llvm::function_ref<mlir::Value(llvm::ArrayRef<IndexValue>, mlir::Value)> body) = 0;

  /// `scalar` as the type all lanes share: itself, or a vector of it.
  mlir::Type laneType(mlir::Type scalar) const;
  mlir::Value splat(mlir::Value scalar);
  mlir::Value constantData(mlir::Type scalar, mlir::Attribute value);
  unsigned laneCount() const { return lanes; }
  /// The index as a vector of i64 (or i64 when there is one lane).
  mlir::Value materialize(IndexValue index);

protected:
  ElementBuilder(mlir::ImplicitLocOpBuilder &b, unsigned lanes) : b(b), lanes(lanes) {}
  mlir::ImplicitLocOpBuilder &b;
  unsigned lanes;
};

/// The type in which elements of `element` are computed: narrow floats in f32, unsigned integers as signless ones.
mlir::Type computeType(mlir::Type element);
/// Floats of at most 16 bits (FloatFormat.h) as f32 and back, one or a vector of them; `bits` are integers of their width.
mlir::Value decodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Type element, mlir::Value bits);
mlir::Value encodeFloat(mlir::ImplicitLocOpBuilder &b, mlir::Type element, mlir::Value value);
/// The identity of a combiner on an element type, as reference value and as attribute of the compute type.
mlir::TypedAttr combinerIdentity(Combiner combiner, mlir::Type element);
mlir::Value emitCombine(mlir::ImplicitLocOpBuilder &b, Combiner combiner, mlir::Type element,
                        mlir::Value a, mlir::Value c);
/// The default of ElementOpInterface::emitElement.
mlir::Value emitElementByRule(mlir::Operation *op, ElementBuilder &e,
                              llvm::ArrayRef<IndexValue> index);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_ELEMENT_H
