//===- Infer.h - Helpers of type inference and verification -------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_INFER_H
#define WEFT_DIALECTS_WEFT_OPS_INFER_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Result dimensions from a rule; reports through `location`.
inline mlir::FailureOr<llvm::SmallVector<SymExpr>> inferDims(llvm::StringRef rule,
                                                             mlir::TypeRange operands,
                                                             std::optional<mlir::Location> location,
                                                             llvm::StringRef name) {
  auto bound = IterationRule::bind(rule, operands, {}, [&](const llvm::Twine &message) {
    (void)mlir::emitOptionalError(location, "'weft.", name, "': ", message.str());
  });
  if (mlir::failed(bound))
    return mlir::failure();
  return bound->resultDims(0);
}

inline SymTensorType tensorType(mlir::Value value) {
  return mlir::cast<SymTensorType>(value.getType());
}
inline mlir::Type elementOf(mlir::Value value) { return tensorType(value).getElementType(); }

/// For functions that integers do not have.
inline mlir::LogicalResult requireReal(llvm::StringRef name, std::optional<mlir::Location> location,
                                       mlir::Value operand) {
  if (isFloat(elementOf(operand)))
    return mlir::success();
  return mlir::emitOptionalError(location, "'weft.", name,
                                 "' needs floats, but its operand has elements ",
                                 elementOf(operand));
}

/// Refuses what tensors have no elements of; the error begins with `what`.
inline mlir::LogicalResult requireElement(const llvm::Twine &what,
                                          std::optional<mlir::Location> location, mlir::Type type) {
  if (!location)
    return mlir::success(isElement(type));
  return verifyElement([&] { return mlir::emitError(*location) << what; }, type);
}

/// Refuses a value for what another one is; a note shows where that one, called `name`, is defined.
template <typename... Parts>
mlir::LogicalResult refuseBeside(std::optional<mlir::Location> location, mlir::Value other,
                                 const llvm::Twine &name, Parts &&...parts) {
  if (!location)
    return mlir::failure();
  mlir::InFlightDiagnostic error = mlir::emitError(*location);
  (error << ... << std::forward<Parts>(parts));
  error.attachNote(other.getLoc()) << "'" << name << "' is defined here";
  return error;
}

/// Products of `element` can be summed in `accumulate`.
inline mlir::LogicalResult verifyAccumulate(llvm::StringRef name,
                                            std::optional<mlir::Location> location,
                                            mlir::Type element, mlir::Type accumulate) {
  if (mlir::failed(requireElement("'weft." + name + "' accumulates: ", location, accumulate)))
    return mlir::failure();
  if (isFloat(element) == isFloat(accumulate) && elementBits(accumulate) >= elementBits(element))
    return mlir::success();
  return mlir::emitOptionalError(location, "'weft.", name, "' cannot sum products of ", element,
                                 " in ", accumulate);
}

} // namespace weft

#endif
