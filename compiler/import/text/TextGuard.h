//===- TextGuard.h - What MLIR's parser shall not see ---------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H
#define WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H

#include "weft/limits.hpp"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft {

struct TextRefusal {
  const char *code;
  std::string place; ///< ":line:column", or nothing when it is the text as a whole
  std::string why;
};

/// Whether MLIR's parser would fail on the text in a way that ends the program: it recurses on brackets, reads text up to a NUL, and leaves
/// dangling pointers behind when an operation uses a value of a later region that does not parse. Or whether it is larger than the limits.
std::optional<TextRefusal> refuseText(llvm::StringRef text, const Limits &limits);

std::string tooManyOperations(const Limits &limits);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_TEXT_TEXTGUARD_H
