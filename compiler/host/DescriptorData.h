//===- DescriptorData.h - What a file says of its functions, as data of the image ------------------------===//
#ifndef WEFT_COMPILER_HOST_DESCRIPTORDATA_H
#define WEFT_COMPILER_HOST_DESCRIPTORDATA_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

constexpr llvm::StringLiteral kDescriptorSymbol = "weft_descriptor";

/// Adds `descriptor` as read-only data under kDescriptorSymbol, and room for the note of the first page.
void emitDescriptor(mlir::ModuleOp module, llvm::StringRef descriptor);

} // namespace weft

#endif
