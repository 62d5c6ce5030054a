//===- Writer.h - The .weft file -------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WRITER_H
#define WEFT_COMPILER_ARTIFACT_WRITER_H

#include "compiler/artifact/Descriptor.h"
#include "compiler/artifact/Link.h"
#include "compiler/model/ModuleImpl.h"

namespace weft {

/// Writes image, weights, hashes and manifest and renames; on failure nothing is left. Returns the size of the file.
llvm::Expected<uint64_t> writeArtifact(const std::string &path, Image &image,
                                       const Descriptor &descriptor,
                                       llvm::ArrayRef<StoredWeight> weights, Module::Impl &module,
                                       llvm::StringRef manifest);

} // namespace weft

#endif
