//===- TinyBert.cpp - Its files, and its numbers straight from the definition -----------------===//

#include "test/compiler/checkpoint/TinyBert.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <fstream>

using llvm::APFloat;
using nlohmann::json;

namespace weft {

//===-- Weights -------------------------------------------------------------------------------===//

TinyBert::TinyBert() {
  config = {{"model_type", "bert"},          {"architectures", {"BertModel"}},
            {"hidden_size", kHidden},        {"num_hidden_layers", kLayers},
            {"num_attention_heads", kHeads}, {"intermediate_size", kInner},
            {"vocab_size", kVocabulary},     {"max_position_embeddings", kPositions},
            {"type_vocab_size", 2},          {"hidden_act", "gelu"},
            {"layer_norm_eps", 1e-12}};
  add("embeddings.word_embeddings.weight", {kVocabulary, kHidden});
  add("embeddings.position_embeddings.weight", {kPositions, kHidden});
  add("embeddings.token_type_embeddings.weight", {2, kHidden});
  add("embeddings.LayerNorm", {kHidden});
  for (int64_t i = 0; i < kLayers; ++i) {
    std::string layer = "encoder.layer." + std::to_string(i) + ".";
    for (const char *name : {"attention.self.query", "attention.self.key", "attention.self.value",
                             "attention.output.dense"})
      add(layer + name, {kHidden, kHidden});
    add(layer + "attention.output.LayerNorm", {kHidden});
    add(layer + "intermediate.dense", {kInner, kHidden});
    add(layer + "output.dense", {kHidden, kInner});
    add(layer + "output.LayerNorm", {kHidden});
  }
  add("pooler.dense", {kHidden, kHidden});
}

/// A table, or weight and bias of a layer.
void TinyBert::add(const std::string &name, std::vector<int64_t> shape) {
  bool table = name.find(".weight") != std::string::npos;
  auto fill = [&](const std::string &full, std::vector<int64_t> dims) {
    TinyTensor &tensor = tensors[full];
    size_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    tensor.shape = std::move(dims);
    for (size_t i = 0; i < count; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      tensor.values.push_back((int64_t(random >> 57) - 64) / 64.0);
    }
  };
  fill(table ? name : name + ".weight", shape);
  if (!table)
    fill(name + ".bias", {shape.front()});
}

//===-- Files ---------------------------------------------------------------------------------===//

void writeText(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

static std::string elementBytes(const std::string &dtype, double value) {
  auto raw = [](auto number) {
    return std::string(reinterpret_cast<const char *>(&number), sizeof number);
  };
  if (dtype == "F64")
    return raw(value);
  if (dtype == "F32")
    return raw(float(value));
  if (dtype == "I32")
    return raw(int32_t(value));
  APFloat narrow(value);
  bool lost;
  narrow.convert(dtype == "F16" ? APFloat::IEEEhalf() : APFloat::BFloat(),
                 APFloat::rmNearestTiesToEven, &lost);
  return raw(uint16_t(narrow.bitcastToAPInt().getZExtValue()));
}

void TinyBert::write(const std::string &folder) const {
  size_t shards = pieces.empty() ? 1 : pieces.size(), position = 0;
  std::vector<json> headers(shards, json::object());
  std::vector<std::string> data(shards);
  json map;
  for (const auto &[name, tensor] : tensors) {
    size_t shard = position++ % shards, begin = data[shard].size();
    for (double value : tensor.values)
      data[shard] += elementBytes(dtype, value);
    headers[shard][prefix + name] = {
        {"dtype", dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, data[shard].size()}}};
    if (!pieces.empty())
      map[prefix + name] = pieces[shard];
  }
  for (size_t shard = 0; shard < shards; ++shard) {
    std::string header = headers[shard].dump();
    uint64_t length = header.size();
    writeText(folder + "/" + (pieces.empty() ? "model.safetensors" : pieces[shard]),
              std::string(reinterpret_cast<const char *>(&length), 8) + header + data[shard]);
  }
  if (!pieces.empty())
    writeText(folder + "/model.safetensors.index.json", json{{"weight_map", map}}.dump());
  writeText(folder + "/config.json", config.dump());
}

void TinyBert::writeSentenceLayout(const std::string &folder, const std::string &mode,
                                   bool normalize) {
  auto entry = [](const char *path, const char *kind) {
    return json{{"path", path}, {"type", std::string("sentence_transformers.models.") + kind}};
  };
  json modules = {entry("", "Transformer"), entry("1_Pooling", "Pooling")};
  if (normalize)
    modules.push_back(entry("2_Normalize", "Normalize"));
  writeText(folder + "/modules.json", modules.dump());
  llvm::sys::fs::create_directory(folder + "/1_Pooling");
  writeText(folder + "/1_Pooling/config.json",
            json{{"word_embedding_dimension", kHidden}, {"pooling_mode_" + mode, true}}.dump());
}

//===-- Numbers -------------------------------------------------------------------------------===//

TinyBert::Row TinyBert::row(const std::string &table, int64_t index) const {
  const double *start = tensors.at(table).values.data() + index * kHidden;
  return Row(start, start + kHidden);
}

TinyBert::Row TinyBert::linear(const Row &x, const std::string &name) const {
  const std::vector<double> &weight = tensors.at(name + ".weight").values;
  Row y = tensors.at(name + ".bias").values;
  for (size_t o = 0; o < y.size(); ++o)
    for (size_t i = 0; i < x.size(); ++i)
      y[o] += weight[o * x.size() + i] * x[i];
  return y;
}

TinyBert::Row TinyBert::layerNorm(const Row &x, const std::string &name) const {
  double mean = 0, variance = 0;
  for (double v : x)
    mean += v / x.size();
  for (double v : x)
    variance += (v - mean) * (v - mean) / x.size();
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) / std::sqrt(variance + 1e-12) * tensors.at(name + ".weight").values[i] +
           tensors.at(name + ".bias").values[i];
  return y;
}

static std::vector<double> sum(std::vector<double> a, const std::vector<double> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    a[i] += b[i];
  return a;
}

/// One layer on the rows of one sentence.
std::vector<TinyBert::Row> TinyBert::layer(const std::vector<Row> &x,
                                           const std::vector<int64_t> &mask,
                                           const std::string &name) const {
  size_t seq = x.size(), width = kHidden / kHeads;
  std::vector<Row> q, k, v, y;
  for (const Row &token : x) {
    q.push_back(linear(token, name + "attention.self.query"));
    k.push_back(linear(token, name + "attention.self.key"));
    v.push_back(linear(token, name + "attention.self.value"));
  }
  for (size_t s = 0; s < seq; ++s) {
    Row context(kHidden, 0);
    for (size_t h = 0; h < kHeads; ++h) {
      Row scores(seq, 0);
      double largest = -INFINITY, total = 0;
      for (size_t t = 0; t < seq; ++t) {
        for (size_t d = h * width; d < (h + 1) * width; ++d)
          scores[t] += q[s][d] * k[t][d] / std::sqrt(double(width));
        scores[t] += mask[t] ? 0 : -3.4028234663852886e38;
        largest = std::max(largest, scores[t]);
      }
      for (double &score : scores)
        total += score = std::exp(score - largest);
      for (size_t t = 0; t < seq; ++t)
        for (size_t d = h * width; d < (h + 1) * width; ++d)
          context[d] += scores[t] / total * v[t][d];
    }
    Row attended = layerNorm(sum(linear(context, name + "attention.output.dense"), x[s]),
                             name + "attention.output.LayerNorm");
    Row inner = linear(attended, name + "intermediate.dense");
    for (double &value : inner)
      value *= 0.5 * (1 + std::erf(value / std::sqrt(2.0)));
    y.push_back(
        layerNorm(sum(linear(inner, name + "output.dense"), attended), name + "output.LayerNorm"));
  }
  return y;
}

std::vector<double> TinyBert::hidden(int64_t batch, int64_t seq, const std::vector<int64_t> &ids,
                                     const std::vector<int64_t> &mask,
                                     const std::vector<int64_t> &types) const {
  std::vector<double> all;
  for (int64_t n = 0; n < batch; ++n) {
    std::vector<Row> x;
    for (int64_t s = 0; s < seq; ++s) {
      Row token = sum(row("embeddings.word_embeddings.weight", ids[n * seq + s]),
                      row("embeddings.position_embeddings.weight", s));
      int64_t type = types.empty() ? 0 : types[n * seq + s];
      x.push_back(layerNorm(sum(token, row("embeddings.token_type_embeddings.weight", type)),
                            "embeddings.LayerNorm"));
    }
    std::vector<int64_t> kept(mask.begin() + n * seq, mask.begin() + (n + 1) * seq);
    for (int64_t i = 0; i < kLayers; ++i)
      x = layer(x, kept, "encoder.layer." + std::to_string(i) + ".");
    for (const Row &token : x)
      all.insert(all.end(), token.begin(), token.end());
  }
  return all;
}

std::vector<double> TinyBert::pooled(int64_t batch, int64_t seq,
                                     const std::vector<double> &hidden) const {
  std::vector<double> all;
  for (int64_t n = 0; n < batch; ++n) {
    auto first = hidden.begin() + n * seq * kHidden;
    for (double value : linear(Row(first, first + kHidden), "pooler.dense"))
      all.push_back(std::tanh(value));
  }
  return all;
}

} // namespace weft
