//===- SizeArithmetic.h - Sizes that are known only under a condition -------------------------===//
//
// Folding says only what holds for all sizes. Two habits of exporters need a little more: integer
// quotients whose numerator could be negative, (height - 1) / 2 + 1, and sizes that pass through
// floats, ceil(float(height) / 2.0) * 2.0. Where such a value is wanted as a size, the condition under
// which it is an expression joins the contract.
//
//   learnSizes(builder, values, value);      // values.find(value) may say more afterwards
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_SIZEARITHMETIC_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_SIZEARITHMETIC_H

#include "compiler/import/onnx/graph/GraphBuilder.h"

namespace weft::onnx {

/// Does nothing when all elements of `value` are known.
void learnSizes(GraphBuilder &builder, KnownValues &values, Value value);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_SIZEARITHMETIC_H
