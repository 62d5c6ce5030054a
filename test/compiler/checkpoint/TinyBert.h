//===- TinyBert.h - A BERT small enough to write and compute in a test ------------------------===//
//
// Weights are multiples of 1/64, so f16 and bf16 hold them exactly.
//
//   TinyBert bert;
//   bert.tensors.erase("pooler.dense.bias");
//   bert.write(folder);                       // config.json, model.safetensors
//   bert.hidden(2, 3, ids, mask, types);      // what importing and evaluating must give
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_COMPILER_CHECKPOINT_TINYBERT_H
#define WEFT_TEST_COMPILER_CHECKPOINT_TINYBERT_H

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft {

struct TinyTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

class TinyBert {
public:
  static constexpr int64_t kHidden = 8, kHeads = 2, kLayers = 2, kInner = 12, kVocabulary = 11,
                           kPositions = 6;
  TinyBert();

  nlohmann::json config;
  std::map<std::string, TinyTensor> tensors;
  std::string prefix;              ///< of the names in the file
  std::string dtype = "F32";       ///< F32, F16, BF16, F64, I32
  std::vector<std::string> pieces; ///< names of shards; one file when empty

  void write(const std::string &folder) const;
  /// Adds modules.json and 1_Pooling/config.json; `mode` such as "mean_tokens".
  static void writeSentenceLayout(const std::string &folder, const std::string &mode,
                                  bool normalize);

  /// Hidden states [batch, seq, kHidden] in double arithmetic.
  std::vector<double> hidden(int64_t batch, int64_t seq, const std::vector<int64_t> &ids,
                             const std::vector<int64_t> &mask,
                             const std::vector<int64_t> &types) const;
  /// tanh(dense(first token)), [batch, kHidden].
  std::vector<double> pooled(int64_t batch, int64_t seq, const std::vector<double> &hidden) const;

private:
  using Row = std::vector<double>;
  void add(const std::string &name, std::vector<int64_t> shape);
  Row row(const std::string &table, int64_t index) const;
  Row linear(const Row &x, const std::string &name) const;
  Row layerNorm(const Row &x, const std::string &name) const;
  std::vector<Row> layer(const std::vector<Row> &x, const std::vector<int64_t> &mask,
                         const std::string &name) const;

  uint64_t random = 1;
};

void writeText(const std::string &path, const std::string &content);

} // namespace weft

#endif // WEFT_TEST_COMPILER_CHECKPOINT_TINYBERT_H
