//===- Aliases.h - Results that lie in the memory of an argument ---------------------------------===//
//
// What Aliases.td says, asked: programs that weft-grow-in-place made have buffers with room, and
// verified ones have nothing else.
//
//   if (std::optional<InPlaceWrite> write = inPlaceWrite(result))   // only write->part is stored, behind write->start
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_ALIASES_H
#define WEFT_DIALECTS_WEFT_ALIASES_H

#include "dialects/weft/Weft.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace weft {

/// Of an argument with room, the dimensions that callers see.
constexpr llvm::StringLiteral kViewAttr = "weft.view";
/// Of the result that lies in its memory, an AliasesAttr.
constexpr llvm::StringLiteral kAliasesAttr = "weft.aliases";
/// On the concatenation that replaces a part of a buffer.
constexpr llvm::StringLiteral kInPlaceAttr = "weft.in_place";

/// The dimension in which callers see less than the buffer has; nothing when they cannot see it so.
std::optional<unsigned> roomDim(SymTensorType buffer, DimsAttr seen);

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

/// The rules of Aliases.td, for the dialect's verifier.
mlir::LogicalResult verifyInPlace(ConcatOp concat);
mlir::LogicalResult verifyView(mlir::Operation *op, unsigned argument);
mlir::LogicalResult verifyAliases(mlir::Operation *op, unsigned result);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_ALIASES_H
