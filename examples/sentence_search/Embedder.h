//===- Embedder.h - Sentences to vectors with a compiled model --------------------------------===//
//
//   Failure failure;
//   std::optional<Embedder> embedder = Embedder::open("minilm.weft", 0, failure);
//   std::vector<Vector> vectors;
//   if (!embedder || !embedder->embed(tokenIds, padId, vectors, failure)) return report(failure);
//
// The part to copy into a program of your own: everything that talks to the Weft runtime is here.
//===------------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/runtime.h"

namespace sentence_search {

/// Why something cannot be done: one line for people, perhaps what to do, and the exit code.
struct Failure {
  int exitCode =
      0; ///< 1: a file or tensor is refused, 2: wrong usage, 4: the machine lacks something
  std::string message, hint;
};

using Vector = std::vector<float>;

/// The sum of products; of vectors of length one, the cosine of their angle.
float dot(const Vector &a, const Vector &b);

class Embedder {
public:
  /// Opens an artifact with the i64 inputs 'input_ids' and 'attention_mask', perhaps
  /// 'token_type_ids', each [batch, seq], and the f32 output 'sentence_embedding' [batch, width].
  /// `threads` 0: as many as the process may use.
  static std::optional<Embedder> open(const std::string &path, int threads, Failure &failure);

  /// The most tokens that the artifact accepts in one sentence, or `wanted` if that is less.
  size_t tokenLimit(size_t wanted) const;

  /// One vector of length one for each sentence, in order. Sentences of similar length share a
  /// call, padded with `padId` to the longest of them. One call at a time.
  bool embed(const std::vector<std::vector<int64_t>> &sentences, int64_t padId,
             std::vector<Vector> &vectors, Failure &failure);

private:
  struct Release {
    void operator()(weft_module_t *module) const { weft_module_release(module); }
    void operator()(weft_context_t *context) const { weft_context_release(context); }
  };
  /// What the model's input with the same place is filled with.
  enum class Role { ids, mask, zeros };

  Embedder() = default;
  bool findArguments(Failure &failure);
  bool findInput(const weft_argument_info_t &input, Failure &failure);
  bool findOutput(uint32_t inputs, uint32_t outputs, Failure &failure);
  void findTokenLimit(uint32_t symbols);
  bool embedBatch(const std::vector<const std::vector<int64_t> *> &batch, int64_t padId,
                  std::vector<Vector> &vectors, Failure &failure);
  bool copyRows(const weft_tensor_t &output, size_t rows, std::vector<Vector> &vectors,
                Failure &failure) const;

  std::string path;
  std::unique_ptr<weft_module_t, Release> module;
  std::unique_ptr<weft_context_t, Release> context;
  std::vector<Role> roles;
  int32_t function = -1;
  uint32_t outputCount = 0, embedding = 0;
  int64_t longest = INT64_MAX; ///< tokens that the artifact accepts in one sentence
};

} // namespace sentence_search
