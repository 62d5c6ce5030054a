//===- HostProgram.h - bind and run of every function, as code ------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_HOSTPROGRAM_H
#define WEFT_COMPILER_HOST_HOSTPROGRAM_H

#include "compiler/plan/Variant.h"

namespace weft {

/// Names of the code of a function in the image.
std::string bindSymbol(unsigned variant, unsigned function);
std::string runSymbol(unsigned variant, unsigned function);
constexpr llvm::StringLiteral kDescriptorSymbol = "weft_descriptor";

/// Adds bind and run of all functions of variant `number` to `module`, whose context has the code generation dialects.
void emitHostProgram(mlir::ModuleOp module, unsigned number, const Variant &variant,
                     llvm::ArrayRef<StoredWeight> weights);

/// Adds `descriptor` as read-only data under kDescriptorSymbol, and room for the note of the first page.
void emitDescriptor(mlir::ModuleOp module, llvm::StringRef descriptor);

} // namespace weft

#endif
