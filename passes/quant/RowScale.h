//===- RowScale.h - Rows of reals as signed integers, each with a scale of its own --------------------===//
#ifndef WEFT_PASSES_QUANT_ROWSCALE_H
#define WEFT_PASSES_QUANT_ROWSCALE_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// A single number.
mlir::Value fill(mlir::ImplicitLocOpBuilder &b, mlir::TypedAttr number);
mlir::Value byteFill(mlir::ImplicitLocOpBuilder &b, bool isSigned, int64_t number);

/// A scale for every row, which reaches along the dimensions `along`: its largest magnitude is `most`. They are of size 1 in the scales.
mlir::Value scaleOfRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::ArrayRef<int64_t> along,
                        double most);

} // namespace weft

#endif // WEFT_PASSES_QUANT_ROWSCALE_H
