//===- Quantization.h - Reals as integers, for several operator families ----------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_QUANTIZATION_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_QUANTIZATION_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

/// round(x / scale) + zero in `element`; a null zero point is 0. The parameters broadcast against `x`. Integers saturate always.
Value buildQuantize(NodeImport &n, Value x, Value scale, Value zero, Type element,
                    bool saturate = true);

/// (x - zero) * scale in f32 of integers `x`. Both parameters are one number or a list along `axis`; a null zero point is 0.
Value buildDequantize(NodeImport &n, Value x, Value scale, Value zero, int64_t axis);

/// Bytes without sign, scale and zero point from the range of all elements, which always contains 0.
llvm::SmallVector<Value> buildDynamicQuantize(NodeImport &n, Value x);

/// (x - zero) * scale in f32, with a scale and a zero point (which may be null) per block of elements along `axis`.
Value buildDequantizeBlocks(NodeImport &n, Value x, Value scale, Value zero, int64_t axis,
                            int64_t block);

/// Floats of at most 8 bits have no room for large numbers: those become the largest one, and powers of two what is too small the smallest.
Value clampToLargest(NodeImport &n, Value x, Type element);

/// Whether weight, scale and zero point of QLinearConv and QLinearMatMul, its inputs from 3 on, are constants.
bool hasConstantWeight(NodeImport &n);

/// False for a missing zero point and for one that is known to be 0.
bool zeroPointMatters(GraphBuilder &g, Value zero);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_QUANTIZATION_H
