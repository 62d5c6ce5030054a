//===- Sequences.h - Lists of tensors that are known while importing ----------------------------===//
//
// A sequence of ONNX is a list whose tensors the importer knows one by one, and an optional is what it
// holds or nothing. Neither is in the program: the names of a graph stand for values, so both travel as
// the result of a placeholder without a meaning, which is dead when the import is over.
//
//   Value list = makeSequence(n, parts);
//   if (std::optional<ArrayRef<Value>> parts = sequenceOf(list)) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_SEQUENCES_H
#define WEFT_COMPILER_IMPORT_ONNX_SEQUENCES_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/Builders.h"

namespace weft::onnx {

inline bool isTensor(mlir::Value value) { return mlir::isa<SymTensorType>(value.getType()); }
/// "a sequence" or "an empty optional", for messages about a value that is no tensor.
const char *kindOf(mlir::Value value);

mlir::Value makeSequence(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> tensors);
/// Nothing when the value is no sequence.
std::optional<llvm::SmallVector<mlir::Value>> sequenceOf(mlir::Value value);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_SEQUENCES_H
