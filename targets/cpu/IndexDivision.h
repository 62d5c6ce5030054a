//===- IndexDivision.h - Quotients of vectors of indices ----------------------------------------===//
#ifndef WEFT_TARGETS_CPU_INDEXDIVISION_H
#define WEFT_TARGETS_CPU_INDEXDIVISION_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Divides vectors of indices (kOfIndicesAttr) in doubles: no processor has a division of integers for all lanes at once.
void divideIndicesInDoubles(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_TARGETS_CPU_INDEXDIVISION_H
