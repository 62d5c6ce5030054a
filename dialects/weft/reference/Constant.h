//===- Constant.h - The elements of a constant ----------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_REFERENCE_CONSTANT_H
#define WEFT_DIALECTS_WEFT_REFERENCE_CONSTANT_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Of dense elements, or of a weight by name, as a result of `call`. They fit the type, whose sizes are constant.
mlir::LogicalResult evaluateConstant(mlir::Attribute value, SymTensorType type,
                                     ReferenceCall &call);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_REFERENCE_CONSTANT_H
