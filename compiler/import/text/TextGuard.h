//===- TextGuard.h - What MLIR's parser shall not see ---------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H
#define WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H

#include "weft/compiler.hpp"
#include "llvm/ADT/StringRef.h"

namespace weft {

/// Refuses text on which MLIR's parser would fail in a way that ends the program: it recurses on brackets, reads text up to a NUL, and leaves
/// dangling pointers behind when an operation uses a value of a later region that does not parse. Also text beyond the limits. `path` names it.
Result<void> checkText(const std::string &path, llvm::StringRef text, const Limits &limits);

std::string tooManyOperations(const Limits &limits);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H
