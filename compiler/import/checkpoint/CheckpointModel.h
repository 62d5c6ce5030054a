//===- CheckpointModel.h - A checkpoint on its way to a program -------------------------------===//
//
// What a family builds with: the builder, the configuration, and weights found by the name of the
// scope they are used in. Errors are kept in the builder, so a family reads as if nothing failed.
//
//   int64_t width = model.size("hidden_size");
//   auto scope = model.b.scope("encoder.layer.0.attention.self");
//   Value q = model.linear(x, "query", width, width);
//
// reads encoder.layer.0.attention.self.query.weight and .bias.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINTMODEL_H
#define WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINTMODEL_H

#include "compiler/import/checkpoint/SentenceLayout.h"
#include "compiler/import/readers/Safetensors.h"
#include "weft/builder.hpp"
#include "llvm/ADT/StringSet.h"

namespace weft {

/// A finding with the text of a reader's error; its "; hint: ..." becomes the hint, and `place` at
/// its start the place.
Diagnostic toDiagnostic(llvm::Error error, llvm::StringRef place = "");

class CheckpointModel {
public:
  /// Both must outlive this; `layout` is null for a plain checkpoint.
  CheckpointModel(const Checkpoint &checkpoint, const SentenceLayout *layout);

  Builder b;
  const SentenceLayout *const layout;

  //===-- Configuration -----------------------------------------------------------------------===//

  /// A positive integer; 1 after an error.
  int64_t size(llvm::StringRef key, std::optional<int64_t> fallback = std::nullopt);
  double number(llvm::StringRef key, std::optional<double> fallback = std::nullopt);
  std::string text(llvm::StringRef key, std::optional<std::string> fallback = std::nullopt);
  /// Refuses any value but this; absent is fine.
  void requireText(llvm::StringRef key, llvm::StringRef value);
  void requireFalse(llvm::StringRef key);
  /// "config.json: 'key' must be <what>, but is <value>".
  void refuse(llvm::StringRef key, const llvm::Twine &what);

  //===-- Weights -----------------------------------------------------------------------------===//

  /// Chooses the prefix of all names: the first with which `tensor` exists.
  void choosePrefix(llvm::ArrayRef<llvm::StringRef> prefixes, llvm::StringRef tensor);
  /// Names here are relative to the builder's scope.
  bool has(llvm::StringRef name) const;
  /// A weight of this shape in the type it is stored in. Reports what is missing or does not fit.
  Value storedWeight(llvm::StringRef name, const std::vector<int64_t> &shape);
  /// The same in f32.
  Value weight(llvm::StringRef name, const std::vector<int64_t> &shape);
  Value toF32(Value value);
  /// Tensors whose names start so are expected to stay unused.
  void ignore(llvm::StringRef prefix) { ignored.push_back(prefix.str()); }

  //===-- Layers ------------------------------------------------------------------------------===//

  /// x times `name`.weight [out, in] plus `name`.bias.
  Value linear(Value x, llvm::StringRef name, int64_t in, int64_t out);
  /// Layer normalisation with `name`.weight and .bias, which old files call gamma and beta.
  Value layerNorm(Value x, llvm::StringRef name, int64_t width, double epsilon);
  /// Rows of the table `name` [rows, width] at `indices`.
  Value embedding(Value indices, llvm::StringRef name, int64_t rows, int64_t width);
  /// An activation as config.json names it in `key`; "gelu" when absent.
  Value activation(Value x, llvm::StringRef key);

  /// Reports unused tensors and finishes the builder.
  Result<Module> finish();

private:
  template <typename T> T take(llvm::Expected<T> value, T onError);
  const CheckpointTensor *findWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  std::string fullName(llvm::StringRef name) const;
  void tensorError(const CheckpointTensor *tensor, const llvm::Twine &text);

  const Checkpoint &checkpoint;
  JsonObject config;
  std::string prefix;
  llvm::StringSet<> used;
  std::vector<std::string> ignored;
  bool tensorReported = false;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_CHECKPOINT_CHECKPOINTMODEL_H
