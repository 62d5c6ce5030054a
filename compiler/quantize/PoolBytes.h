//===- PoolBytes.h - Bytes are pooled as bytes in an ONNX file --------------------------------===//
//
//   before   y = QuantizeLinear(MaxPool(x))
//   after    y = QuantizeLinear(MaxPool(DequantizeLinear(QuantizeLinear(x))))
//
// The numbers are the same, as what is larger stays so when it is rounded. Engines fuse the first
// rounding with what makes x and pool bytes; OpenVINO pools floats where there is none.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_POOLBYTES_H
#define WEFT_COMPILER_QUANTIZE_POOLBYTES_H

#include "compiler/reduce/OnnxDraft.h"

namespace weft {

/// Where nobody else reads x, or what is pooled.
void poolBytes(OnnxDraft &draft);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_POOLBYTES_H
