//===- Order.h - What operators along one axis share with their code ---------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_ORDER_H
#define WEFT_DIALECTS_WEFT_OPS_ORDER_H

#include "dialects/weft/Weft.h"

namespace weft {

/// The dimensions other than `axis`: a unit of work is one line.
inline llvm::SmallVector<SymExpr> outerDims(SymTensorType type, int64_t axis) {
  llvm::SmallVector<SymExpr> dims = type.getDims();
  dims.erase(dims.begin() + axis);
  return dims;
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_ORDER_H
