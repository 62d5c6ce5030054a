//===- BindProgram.h - bind of a function, as code ---------------------------------------------------------===//
//
//   bind(in, values)   reads symbols from dimensions, checks, fills values: symbols, arena bytes, output dimensions
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_BINDPROGRAM_H
#define WEFT_COMPILER_HOST_BINDPROGRAM_H

#include "compiler/plan/Variant.h"

namespace weft {

void emitBind(mlir::ModuleOp module, const PlannedFunction &function, llvm::StringRef name);

} // namespace weft

#endif
