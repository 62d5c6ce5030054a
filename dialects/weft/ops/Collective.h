//===- Collective.h - The operators over ranks; few files know them -----------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H
#define WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H

#include "dialects/weft/Mesh.h"

#define GET_OP_CLASSES
#include "dialects/weft/CollectiveOps.h.inc"

namespace weft {

/// The same collective of the same elements in another order of dimensions: dimension i of `input` was order[i] of the operand.
mlir::Value exchangeInOrder(mlir::OpBuilder &builder, CollectiveOpInterface op, mlir::Value input,
                            llvm::ArrayRef<int64_t> order);

/// What a value is that ranks have put together from their parts, where each took its own from it; null for other values.
mlir::Value gatheredFrom(mlir::Value value);
/// The place that gets what the rank at a place has.
int64_t placeThatGets(PermuteOp op, int64_t place);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_COLLECTIVE_H
