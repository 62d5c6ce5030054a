//===- WriteProgram.h - A program as text, with its weights beside it -------------------------===//
#ifndef WEFT_COMPILER_REDUCE_WRITEPROGRAM_H
#define WEFT_COMPILER_REDUCE_WRITEPROGRAM_H

#include "weft/compiler.hpp"
#include "llvm/Support/Error.h"

namespace weft {

/// Writes `path`, which importFile reads back, and PATH.weights when the program has weights. Both
/// are written beside and renamed.
llvm::Error writeProgram(const Module &module, const std::string &path);

/// Writes beside and renames.
llvm::Error writeWhole(const std::string &path, const std::string &bytes);

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_WRITEPROGRAM_H
