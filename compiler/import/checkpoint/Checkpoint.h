//===- Checkpoint.h - Checkpoint directories become programs ----------------------------------===//
//
// Reads config.json and *.safetensors as Hugging Face writes them, and builds the model that the
// configuration names with the public builder:
//
//   Result<Module> module = importCheckpoint("all-MiniLM-L6-v2");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINT_H
#define WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINT_H

#include "compiler/import/checkpoint/SentenceLayout.h"
#include "compiler/import/readers/Safetensors.h"
#include "weft/compiler.hpp"

namespace weft {

/// Imports a directory. With modules.json beside it (sentence-transformers) the model also has the
/// output `sentence_embedding`.
Result<Module> importCheckpoint(const std::string &directory);

/// The same from what was read already; `layout` may be null.
Result<Module> buildCheckpoint(const Checkpoint &checkpoint, const SentenceLayout *layout);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINT_H
