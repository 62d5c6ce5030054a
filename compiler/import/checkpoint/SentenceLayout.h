//===- SentenceLayout.h - What sentence-transformers adds to a checkpoint ---------------------===//
//
// modules.json lists what happens to the hidden states: pooling to one vector per sentence, and
// normalisation of it.
//
//   auto layout = readSentenceLayout("all-MiniLM-L6-v2");   // nothing for a plain checkpoint
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_CHECKPOINT_SENTENCELAYOUT_H
#define WEFT_COMPILER_IMPORT_CHECKPOINT_SENTENCELAYOUT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace weft {

class CheckpointModel;
class Value;

struct SentenceLayout {
  enum class Pooling { Mean, FirstToken };
  Pooling pooling = Pooling::Mean;
  bool normalize = false;
  std::string
      modelFolder; ///< inside the directory, where config.json and the weights are; often ""
};

/// Reads modules.json, or 1_Pooling/config.json alone. Nothing when there is neither.
llvm::Expected<std::optional<SentenceLayout>> readSentenceLayout(llvm::StringRef directory);

/// One vector per sentence from hidden states [batch, seq, width] and the mask [batch, seq].
Value sentenceEmbedding(CheckpointModel &model, const SentenceLayout &layout, Value hidden,
                        Value mask);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_CHECKPOINT_SENTENCELAYOUT_H
