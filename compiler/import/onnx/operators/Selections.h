//===- Selections.h - What data select -----------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_SELECTIONS_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_SELECTIONS_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

/// Where a list of i1 is true, in ascending order; their number is a symbol like `name`.
Value positionsOf(NodeImport &n, Value mask, llvm::StringRef name);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_SELECTIONS_H
