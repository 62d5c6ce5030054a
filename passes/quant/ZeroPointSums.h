//===- ZeroPointSums.h - What zero points are multiplied by ---------------------------------------===//
//
//   Value bytes = sumOfWindows(b, x, conv, low, high);        // [n, 1, p, q]: the zero point of a filter takes its multiple of it away
//   Value bytes = sumOfRows(b, rows, weight, product, column); // [m, 1]
//   Value bytes = sumOfWeight(b, weight, channel);             // [n]: known while compiling
//
// Bytes are summed by products with ones, which have the instructions of products of bytes and read them as they lie. Windows overlap, so
// channels of a pixel are summed first, then pixels along one dimension after the other.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_ZEROPOINTSUMS_H
#define WEFT_PASSES_QUANT_ZEROPOINTSUMS_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// The sum of `x` under every window of a convolution without groups, with these borders of zeros instead of its own.
mlir::Value sumOfWindows(mlir::ImplicitLocOpBuilder &b, mlir::Value x, ConvOp windows, DimsAttr low,
                         DimsAttr high);
/// The sum of what each row of a product is computed from, in the place of its columns; `column` is their dimension of the weight.
mlir::Value sumOfRows(mlir::ImplicitLocOpBuilder &b, mlir::Value rows, mlir::Value weight,
                      ContractOp product, unsigned column);
/// The sum of a weight for each index of one dimension, in i32.
mlir::Value sumOfWeight(mlir::ImplicitLocOpBuilder &b, mlir::Value weight, unsigned channel);

} // namespace weft

#endif // WEFT_PASSES_QUANT_ZEROPOINTSUMS_H
