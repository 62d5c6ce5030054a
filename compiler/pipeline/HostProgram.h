//===- HostProgram.h - bind and run of every function, as code ------------------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_HOSTPROGRAM_H
#define WEFT_COMPILER_PIPELINE_HOSTPROGRAM_H

#include "compiler/pipeline/Lower.h"

namespace weft {

/// Names of the code of function `i` in the image.
std::string bindSymbol(unsigned i);
std::string runSymbol(unsigned i);
constexpr llvm::StringLiteral kDescriptorSymbol = "weft_descriptor";

/// Adds bind and run of all functions to `module`, whose context has the code generation dialects.
/// `descriptor` becomes read-only data under kDescriptorSymbol; the note of the first page is reserved.
void emitHostProgram(mlir::ModuleOp module, const Program &program, llvm::StringRef descriptor);

} // namespace weft

#endif
