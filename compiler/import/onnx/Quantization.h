//===- Quantization.h - Reals as integers, for several operator families ----------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_QUANTIZATION_H
#define WEFT_COMPILER_IMPORT_ONNX_QUANTIZATION_H

#include "compiler/import/onnx/NodeImport.h"

namespace weft::onnx {

/// round(x / scale) + zero, saturated to `element`; a null zero point is 0. The parameters broadcast
/// against `x`.
Value buildQuantize(NodeImport &n, Value x, Value scale, Value zero, Type element);

/// (x - zero) * scale in f32, with a scale and a zero point (which may be null) per block of elements along `axis`.
Value buildDequantizeBlocks(NodeImport &n, Value x, Value scale, Value zero, int64_t axis,
                            int64_t block);

/// False for a missing zero point and for one that is known to be 0.
bool zeroPointMatters(GraphBuilder &g, Value zero);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_QUANTIZATION_H
