//===- Link.h - Objects to one image without relocations or imports --------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_LINK_H
#define WEFT_COMPILER_ARTIFACT_LINK_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

struct Image {
  std::string bytes;                 ///< an ELF shared object
  llvm::StringMap<uint64_t> symbols; ///< virtual addresses
  uint64_t noteOffset = 0;           ///< of weft_file_v1 in the file
  /// File offset of a virtual address.
  llvm::Expected<uint64_t> fileOffset(uint64_t address) const;
};

/// Links in process, one link at a time. Fails when something is undefined or would need a dynamic relocation.
llvm::Expected<Image> linkImage(const std::vector<std::string> &objects);

/// One object that can be linked on.
llvm::Expected<std::string> linkRelocatable(const std::vector<std::string> &objects);

} // namespace weft

#endif
