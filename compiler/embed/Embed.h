//===- Embed.h - Object, header and weights for programs without the runtime ------------------===//
//
//   if (Result<void> done = checkEmbeddable(variants); !done) …
//   EmbeddedFiles files(embedding, variants[0], weights, module);
//   llvm::Expected<EmbeddedSizes> sizes = files.write(folder, kernelObjects);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_EMBED_H
#define WEFT_COMPILER_EMBED_EMBED_H

#include "compiler/embed/Interface.h"
#include "compiler/embed/Refusals.h"
#include "compiler/model/ModuleImpl.h"

namespace weft {

struct EmbeddedSizes {
  uint64_t all = 0, code = 0; ///< bytes of the files; of the object without weights
};

class EmbeddedFiles {
public:
  /// All must outlive this. The weights have their places.
  EmbeddedFiles(const Embedding &embedding, const Variant &variant,
                llvm::ArrayRef<StoredWeight> weights, Module::Impl &module);

  /// Makes `folder` when it is not there, and in it the files that are asked for: all, or none.
  /// `kernels`: their objects.
  llvm::Expected<EmbeddedSizes> write(const std::string &folder, std::vector<std::string> kernels);
  /// Of the weights, in order.
  uint64_t weightBytes() const;

private:
  llvm::Expected<std::string> entryObject();
  llvm::Expected<std::string> object(std::vector<std::string> objects, EmbeddedSizes &sizes);
  llvm::Error loadWeights();
  bool hasFileOfWeights() const { return embedding.weightsInFile && weightBytes() > 0; }

  const Embedding &embedding;
  const Variant &variant;
  llvm::ArrayRef<StoredWeight> weights;
  Module::Impl &module;
  EmbeddedModel model;
  std::string stored; ///< bytes of the weights, in order
  int64_t mark = 0;   ///< of their hash
};

} // namespace weft

#endif
