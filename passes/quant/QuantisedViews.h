//===- QuantisedViews.h - Quantisation around what only moves elements ------------------------------===//
//
//   Value moved = viewOf(b, reshape, bytes);                      // the same reshape of other elements
//   if (Value result = movedBeforeViews(b, quantize, movesElements)) …  // f(view(x)) as view(f(x))
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_QUANTISEDVIEWS_H
#define WEFT_PASSES_QUANT_QUANTISEDVIEWS_H

#include "dialects/weft/ops/Quantize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// Whether passes about quantised models have anything to do: quantisations, or sums of integers.
bool isQuantised(mlir::func::FuncOp function);

/// Whether the tensor has one element.
bool isOne(mlir::Value value);
/// Whether the operation's scale and zero point are one number each.
bool hasOneScale(DequantizeOp op);
/// One function of the first operand's elements; the other operands are numbers.
bool isElementwise(mlir::Operation *op);

/// What makes the elements that a value has, whatever views move them; null for an argument.
mlir::Operation *makerBehindViews(mlir::Value value);

/// A tensor of one element without dimensions.
mlir::Value scalar(mlir::ImplicitLocOpBuilder &b, mlir::Value one);
/// What the view makes of another tensor with the same dimensions.
mlir::Value viewOf(mlir::ImplicitLocOpBuilder &b, mlir::Operation *view, mlir::Value of);
/// f(view(x)) as view(f(x)) when f's other operands are numbers: then it belongs to what computes x. Nothing where no view is in front that
/// `passes` lets it through and that nobody else reads.
mlir::Value movedBeforeViews(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                             llvm::function_ref<bool(mlir::Operation *)> passes);

/// The operation's result is another value now.
void replaceBy(mlir::Operation *op, mlir::Value by);
/// Operations of a block that nothing reads.
void eraseUnused(mlir::Block &block);

} // namespace weft

#endif // WEFT_PASSES_QUANT_QUANTISEDVIEWS_H
