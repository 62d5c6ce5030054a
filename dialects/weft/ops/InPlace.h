//===- InPlace.h - What weft-grow-in-place leaves in a program ----------------------------------------------===//
//
// An argument that is a buffer with room has kViewAttr: the dimensions that callers see. The result that lies in its memory has the same, and
// kInPlaceAttr: which argument. The value returned there is a concat with kInPlaceAttr, of the buffer's beginning, what is new, and the
// buffer's end; only what is new is stored.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_INPLACE_H
#define WEFT_DIALECTS_WEFT_OPS_INPLACE_H

#include "dialects/weft/Weft.h"

namespace weft {

constexpr llvm::StringLiteral kViewAttr = "weft.view", kInPlaceAttr = "weft.in_place";

/// A buffer of which a part is replaced.
struct InPlaceWrite {
  mlir::Value buffer, part;
  unsigned dim;
  SymExpr start; ///< of the part, along `dim`
};

/// What computes `result`, when it is stored in place.
std::optional<InPlaceWrite> inPlaceWrite(mlir::Value result);

/// What a kernel stores of a result that it yields: all of it, or the part that is new.
mlir::Value writtenValue(mlir::Value result);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_INPLACE_H
