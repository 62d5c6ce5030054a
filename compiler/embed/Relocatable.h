//===- Relocatable.h - Objects of the ELF format that a program links -------------------------===//
#ifndef WEFT_COMPILER_EMBED_RELOCATABLE_H
#define WEFT_COMPILER_EMBED_RELOCATABLE_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

/// An object for the processor of `like` whose read-only section `section`, at a multiple of 64
/// bytes, is `bytes`; `symbol` is its begin.
llvm::Expected<std::string> objectOfBytes(llvm::StringRef like, llvm::StringRef bytes,
                                          llvm::StringRef section, llvm::StringRef symbol);

/// One object of several, in which `visible` alone can be seen from outside.
llvm::Expected<std::string> joinObjects(const std::vector<std::string> &objects,
                                        const std::vector<std::string> &visible);

} // namespace weft

#endif
