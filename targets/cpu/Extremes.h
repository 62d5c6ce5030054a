//===- Extremes.h - The larger or smaller of two floats, where an instruction keeps what is no number ---===//
#ifndef WEFT_TARGETS_CPU_EXTREMES_H
#define WEFT_TARGETS_CPU_EXTREMES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

class VectorMachine;

/// Nothing for machines without such instructions.
void preferExtremes(mlir::ModuleOp module, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_EXTREMES_H
