//===- Safetensors.h - Checkpoints as Hugging Face writes them --------------------------------===//
//
// Maps the weights of a checkpoint directory: config.json, and model.safetensors or the shards that
// model.safetensors.index.json lists. Weight bytes are never copied.
//
//   Expected<Checkpoint> checkpoint = openCheckpoint("all-MiniLM-L6-v2");
//   if (const CheckpointTensor *table = checkpoint->find("embeddings.word_embeddings.weight")) ...
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_READERS_SAFETENSORS_H
#define WEFT_COMPILER_IMPORT_READERS_SAFETENSORS_H

#include "compiler/import/readers/Json.h"
#include "compiler/import/readers/MappedFile.h"
#include <memory>
#include <string>
#include <vector>

namespace weft {

enum class SafetensorsType {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
  F8E4M3,
  F8E5M2
};

/// As the file spells it: "F32", "BOOL", "F8_E4M3".
llvm::StringRef safetensorsTypeName(SafetensorsType type);

/// Bytes of one element.
unsigned safetensorsTypeBytes(SafetensorsType type);

/// A weight, little-endian and row-major. Its bytes have no alignment: copy elements out with
/// memcpy.
struct CheckpointTensor {
  std::string name;
  SafetensorsType type;
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes; ///< as many as type and shape say; they lie in `file`
  std::shared_ptr<MappedFile> file;
  uint64_t offset; ///< of `bytes` in the file
};

struct SafetensorsLimits {
  uint64_t headerBytes = 64 << 20;
  uint64_t tensors = 200'000;
  unsigned rank = 64;
  unsigned shards = 4096;
};

/// Reads one file or view; tensors come in the order of their bytes. As in the reference
/// implementation the tensors must fill the file without overlap or gap.
llvm::Expected<std::vector<CheckpointTensor>> readSafetensors(std::shared_ptr<MappedFile> file,
                                                              const SafetensorsLimits &limits = {});

/// Which file holds which tensor, from the text of model.safetensors.index.json: pairs (tensor,
/// file), sorted.
llvm::Expected<std::vector<std::pair<std::string, std::string>>>
readShardIndex(llvm::StringRef text, llvm::StringRef place, const SafetensorsLimits &limits = {});

struct Checkpoint {
  std::string directory;
  std::string configPath;                ///< for messages
  nlohmann::json config;                 ///< an object
  std::vector<CheckpointTensor> tensors; ///< sorted by name, names are distinct

  /// Null when there is no such tensor.
  const CheckpointTensor *find(llvm::StringRef name) const;
};

/// Opens a directory. Shards that the index names must lie inside it; the files with fixed names
/// may be symbolic links.
llvm::Expected<Checkpoint> openCheckpoint(llvm::StringRef directory,
                                          const SafetensorsLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_SAFETENSORS_H
