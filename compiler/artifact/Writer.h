//===- Writer.h - The .weft file -------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WRITER_H
#define WEFT_COMPILER_ARTIFACT_WRITER_H

#include "compiler/artifact/Descriptor.h"
#include "compiler/artifact/Link.h"
#include "compiler/model/ModuleImpl.h"

namespace weft {

/// What is written is there until it is whole: beside `path`, of a name that no other process uses.
std::string unfinishedPath(const std::string &path);

/// Gives every stored weight its offset and size; order is that of first use.
void placeWeights(std::vector<StoredWeight> &weights);

/// Writes image, weights, hashes and manifest and renames; on failure nothing is left. Returns the size of the file.
llvm::Expected<uint64_t> writeArtifact(const std::string &path, Image &image,
                                       const Descriptor &descriptor,
                                       llvm::ArrayRef<StoredWeight> weights, Module::Impl &module,
                                       llvm::StringRef manifest);

} // namespace weft

#endif
