//===- Resize.h - Which operators only move elements, and how resizes do ------------------------===//
//
// What they are told by: each element of their result is one of their operand's, whatever it is.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_RESIZE_H
#define WEFT_DIALECTS_WEFT_OPS_RESIZE_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Whether every element of the result is one of the only operand's: functions of one element may be computed before instead of behind.
bool movesElements(mlir::Operation *op);

/// How often every element along a dimension stands in the result, one behind the other; nothing where that is not all that becomes of it.
std::optional<int64_t> repeatsOf(ResizeOp op, unsigned dim);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_RESIZE_H
