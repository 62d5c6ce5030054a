//===- Family.h - Families of models, by the type that config.json names ----------------------===//
//
// A family is one file in families/ that registers itself:
//
//   static RegisterFamily bert({"bert", "Bert", buildBert});
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_CHECKPOINT_FAMILY_H
#define WEFT_COMPILER_IMPORT_CHECKPOINT_FAMILY_H

#include "compiler/import/readers/Safetensors.h"
#include "llvm/Support/Error.h"

namespace weft {

class CheckpointModel;

struct Family {
  const char *modelType;   ///< as in config.json
  const char *classPrefix; ///< of "BertModel", for files without a model type
  /// Declares inputs and outputs. It may stop as soon as `model.b.failed()`.
  void (*build)(CheckpointModel &model);
};

/// Adds a family while the program starts.
struct RegisterFamily {
  explicit RegisterFamily(Family family);
};

/// The family of a checkpoint; the error lists the known ones.
llvm::Expected<const Family *> findFamily(const Checkpoint &checkpoint);

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_CHECKPOINT_FAMILY_H
