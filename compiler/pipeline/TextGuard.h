//===- TextGuard.h - What MLIR's parser shall not see ---------------------------------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_TEXTGUARD_H
#define WEFT_COMPILER_PIPELINE_TEXTGUARD_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft {

struct TextRefusal {
  std::string place; ///< ":line:column", or nothing when it is the text as a whole
  std::string why;
};

/// Whether MLIR's parser would fail on the text in a way that ends the program: it recurses on brackets, reads text up to a NUL, and leaves
/// dangling pointers behind when an operation uses a value of a later region that does not parse.
std::optional<TextRefusal> refuseText(llvm::StringRef text);

} // namespace weft

#endif // WEFT_COMPILER_PIPELINE_TEXTGUARD_H
