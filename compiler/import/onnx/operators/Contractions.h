//===- Contractions.h - Sums of products for several operator families ------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_CONTRACTIONS_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_CONTRACTIONS_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

/// ONNX's MatMul: both sides may be vectors, leading dimensions broadcast. Transposes of an operand
/// become part of the rule. The result has elements of type `accumulate`.
Value buildMatMul(NodeImport &n, Value a, Value b, Type accumulate);

/// (a - aZero) times (b - bZero) of 8-bit integers in i32; a null zero point is 0. `aZero` is one
/// number or one per row, `bZero` one number or one per column.
Value buildIntegerMatMul(NodeImport &n, Value a, Value b, Value aZero, Value bZero);

/// The node as Gemm or Conv has it: its inputs, attributes and bias.
Value buildGemm(NodeImport &n);
Value buildConv(NodeImport &n);

/// The type in which products of `element` are summed.
Type accumulateType(NodeImport &n, Type element);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_CONTRACTIONS_H
