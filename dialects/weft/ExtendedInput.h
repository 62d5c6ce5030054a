//===- ExtendedInput.h - An input that an output is, with something behind it -----------------------------===//
//
// What decoders call a cache: `%present = weft.concat %past, %new`, and %present is returned.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_EXTENDEDINPUT_H
#define WEFT_DIALECTS_WEFT_EXTENDEDINPUT_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace weft {

/// The operation that extends an input, and the number of the output that this is.
struct ExtendedInput {
  ConcatOp concat;
  unsigned output;
};

/// The error says why there is none.
llvm::Expected<ExtendedInput> findExtension(mlir::BlockArgument input);

/// Whether ranks put outputs together of their parts, in memory of their own.
bool putsOutputsTogether(mlir::func::FuncOp function);

/// The name that callers know an input by.
std::string inputName(mlir::BlockArgument input);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_EXTENDEDINPUT_H
