//===- KnownValues.h - What is known about small tensors while importing ----------------------===//
//
// Exporters compute shapes with ordinary operators. Every small tensor is therefore evaluated, as it
// is created, with the operators' own reference semantics over expressions; whoever needs a shape
// takes it from here, and at the end the arithmetic itself is dead.
//
//   values.learn(op, facts);
//   if (const RefTensor *shape = values.find(operand)) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_KNOWNVALUES_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_KNOWNVALUES_H

#include "dialects/weft/Weft.h"

namespace weft::onnx {

class KnownValues {
public:
  /// Evaluates an operation that has just been created.
  void learn(mlir::Operation *op, const SymFacts &facts);

  /// What somebody else found out.
  void set(mlir::Value value, RefTensor tensor);

  /// Null when nothing is known. Elements that are not known are null expressions.
  const RefTensor *find(mlir::Value value) const;

  /// Replaces known integers that are still used as data by constants and `weft.dims_value`, in nested
  /// blocks too. Not before the symbols in them are bound: then the data are what a symbol is bound to.
  void materialize(mlir::Block &block, llvm::ArrayRef<mlir::StringAttr> boundSymbols);

private:
  void materialize(mlir::Block &block, llvm::DenseSet<mlir::StringAttr> unbound);
  RefTensor unknownTensor(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, RefTensor> tensors;
};

/// A known element as an expression; null when it is unknown or not an integer.
SymExpr elementExpr(const RefTensor &tensor, int64_t i);

/// The elements as a constant without weights: `weft.fill` when they are all equal.
mlir::Value createConstant(mlir::ImplicitLocOpBuilder &builder, const RefTensor &tensor);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_KNOWNVALUES_H
