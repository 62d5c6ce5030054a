//===- RoundOperands.h - What --weft-round-operands would find --------------------------------===//
#ifndef WEFT_PASSES_QUANT_ROUNDOPERANDS_H
#define WEFT_PASSES_QUANT_ROUNDOPERANDS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Elements of the constants that the products and convolutions read whose operands the pass rounds.
int64_t roundableWeights(mlir::ModuleOp program);

} // namespace weft

#endif // WEFT_PASSES_QUANT_ROUNDOPERANDS_H
