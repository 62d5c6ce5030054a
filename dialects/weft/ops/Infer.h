//===- Infer.h - Helpers of type inference and verification -------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_INFER_H
#define WEFT_DIALECTS_WEFT_OPS_INFER_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Result dimensions from a rule; reports through `location`.
inline mlir::FailureOr<llvm::SmallVector<SymExpr>> inferDims(llvm::StringRef rule, mlir::TypeRange operands,
                                                             std::optional<mlir::Location> location, llvm::StringRef name) {
  auto bound = IterationRule::bind(rule, operands, {}, [&](const llvm::Twine &message) {
    (void)mlir::emitOptionalError(location, "'weft.", name, "': ", message.str());
  });
  if (mlir::failed(bound))
    return mlir::failure();
  return bound->resultDims(0);
}

inline SymTensorType tensorType(mlir::Value value) { return mlir::cast<SymTensorType>(value.getType()); }
inline mlir::Type elementOf(mlir::Value value) { return tensorType(value).getElementType(); }

} // namespace weft

#endif
