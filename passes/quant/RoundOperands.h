//===- RoundOperands.h - Operands of products and convolutions in 16 bits ---------------------------===//
#ifndef WEFT_PASSES_QUANT_ROUNDOPERANDS_H
#define WEFT_PASSES_QUANT_ROUNDOPERANDS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// A product or convolution of f32 whose operands are reals that no integers stand for.
bool hasRoundableOperands(mlir::Operation *product);
/// Rounds what such products and convolutions read, each value once, directly behind what computes it.
void roundOperands(llvm::ArrayRef<mlir::Operation *> products, mlir::Type element);

/// Elements of the constants that the products and convolutions read whose operands --weft-round-operands rounds.
int64_t roundableWeights(mlir::ModuleOp program);

} // namespace weft

#endif // WEFT_PASSES_QUANT_ROUNDOPERANDS_H
