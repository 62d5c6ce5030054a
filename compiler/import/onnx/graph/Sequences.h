//===- Sequences.h - Lists of tensors that are known while importing ----------------------------===//
//
// A sequence of ONNX is a list whose tensors the importer knows one by one, and an optional is what it
// holds or nothing. Neither is in the program: the names of a graph stand for values, so both travel as
// the result of a placeholder without a meaning, which is dead when the import is over. The one exception
// are sequences that a loop fills: their length may be a symbol, and their tensors have equal dimensions.
//
//   Value list = makeSequence(n, parts);
//   if (std::optional<ArrayRef<Value>> parts = sequenceOf(list)) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_SEQUENCES_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_SEQUENCES_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/Builders.h"

namespace weft::onnx {

inline bool isTensor(mlir::Value value) { return mlir::isa<SymTensorType>(value.getType()); }
/// "a sequence" or "an empty optional", for messages about a value that is no tensor.
const char *kindOf(mlir::Value value);

mlir::Value makeSequence(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> tensors);
/// Nothing when the value is no sequence whose tensors are known.
std::optional<llvm::SmallVector<mlir::Value>> sequenceOf(mlir::Value value);

/// A sequence in the body of a loop whose turns append to it.
struct FilledSequence {
  mlir::Value before; ///< as it was when the turn began
  llvm::SmallVector<mlir::Value> appended;
};
/// For the argument of a body.
mlir::Value makeFilled(mlir::OpBuilder &builder);
mlir::Value makeFilled(mlir::OpBuilder &builder, const FilledSequence &sequence);
std::optional<FilledSequence> filledOf(mlir::Value value);
/// The same behind the loop: the tensors of all turns lie side by side along dimension 0 of one.
mlir::Value makeStack(mlir::OpBuilder &builder, mlir::Value tensors);
/// Null when the value is no stack.
mlir::Value stackOf(mlir::Value value);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_SEQUENCES_H
