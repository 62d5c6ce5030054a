// A tiny BERT in all the forms that checkpoints have, against its definition in double arithmetic.

#include "compiler/import/checkpoint/Checkpoint.h"
#include "test/compiler/checkpoint/ModuleTest.h"
#include "test/compiler/checkpoint/TinyBert.h"
#include "test/compiler/readers/ReaderTest.h"

using namespace weft;

namespace {

/// Two sentences of three tokens, the second with one token masked.
struct Sentences {
  int64_t batch = 2, seq = 3;
  std::vector<int64_t> ids = {1, 10, 3, 0, 7, 7}, mask = {1, 1, 1, 1, 1, 0},
                       types = {0, 1, 1, 1, 0, 0};
};

std::map<std::string, RefTensor> evaluate(const Module &module, const Sentences &s,
                                          bool withTypes) {
  Run run(module);
  run.input("input_ids", {s.batch, s.seq}, s.ids);
  run.input("attention_mask", {s.batch, s.seq}, s.mask);
  if (withTypes)
    run.input("token_type_ids", {s.batch, s.seq}, s.types);
  return run.results();
}

double difference(const std::vector<double> &a, const std::vector<double> &b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::isnan(a[i]) ? INFINITY : std::abs(a[i] - b[i]));
  return largest;
}

/// Imports what is in `folder`, which must be as `bert` says, and compares.
Module checkPlain(const std::string &folder, const TinyBert &bert, const Sentences &s = {}) {
  Result<Module> imported = importCheckpoint(folder);
  CHECK(findings(imported.diagnostics()) == "");
  Module module = built(std::move(imported));
  auto results = evaluate(module, s, /*withTypes=*/true);
  std::vector<double> hidden = bert.hidden(s.batch, s.seq, s.ids, s.mask, s.types);
  CHECK(results.at("last_hidden_state").dims ==
        llvm::SmallVector<int64_t, 4>{s.batch, s.seq, TinyBert::kHidden});
  CHECK(difference(results.at("last_hidden_state").reals, hidden) < 1e-12);
  CHECK(difference(results.at("pooler_output").reals, bert.pooled(s.batch, s.seq, hidden)) < 1e-12);
  return module;
}

} // namespace

TEST_CASE("a plain checkpoint has three inputs, hidden states and the pooler's output") {
  TemporaryFolder folder;
  TinyBert bert;
  bert.write(folder.path);
  Module module = checkPlain(folder.path, bert);
  std::string text = module.text();
  CHECK(symbolsOf(module) == "batch seq | 1 <= batch | 1 <= seq | seq <= 6");
  CHECK_THAT(text, Catch::Contains("loc(\"encoder.layer.1.attention.self.query\")"));
  CHECK_THAT(
      text, Catch::Contains(
                "weft.weight @encoder.layer.1.output.dense.weight from \"model.safetensors\" at "));
  CHECK_THAT(text, !Catch::Contains("transpose"));
  CHECK_THAT(text, !Catch::Contains(folder.path));
}

TEST_CASE("one program answers other shapes, and rows without any unmasked position") {
  TemporaryFolder folder;
  TinyBert bert;
  bert.write(folder.path);
  checkPlain(folder.path, bert, {1, 1, {4}, {1}, {1}});
  checkPlain(folder.path, bert, {1, 6, {1, 2, 3, 4, 5, 6}, {0, 1, 0, 1, 1, 0}, {0, 0, 0, 1, 1, 1}});
  checkPlain(folder.path, bert, {2, 2, {1, 2, 3, 4}, {0, 0, 1, 1}, {0, 0, 0, 0}});
}

TEST_CASE("narrow weights, shards, a prefix and the names of old files give the same numbers") {
  TemporaryFolder folder;
  TinyBert bert;
  SECTION("f16") { bert.dtype = "F16"; }
  SECTION("bf16") { bert.dtype = "BF16"; }
  SECTION("f64") { bert.dtype = "F64"; }
  SECTION("shards") { bert.pieces = {"a-of-2.safetensors", "b-of-2.safetensors"}; }
  SECTION("prefix") { bert.prefix = "bert."; }
  SECTION("no model type") { bert.config.erase("model_type"); }
  bert.write(folder.path);
  checkPlain(folder.path, bert);
}

TEST_CASE("layer normalisation may be called gamma and beta") {
  TemporaryFolder folder;
  TinyBert bert, old;
  for (auto &[name, tensor] : bert.tensors) {
    bool weight = name.find("LayerNorm.weight") != std::string::npos,
         bias = name.find("LayerNorm.bias") != std::string::npos;
    if (!weight && !bias)
      continue;
    std::string stem = name.substr(0, name.rfind('.'));
    old.tensors.erase(name);
    old.tensors[stem + (weight ? ".gamma" : ".beta")] = tensor;
  }
  old.write(folder.path);
  checkPlain(folder.path, bert);
}

TEST_CASE("without a pooler there is one output") {
  TemporaryFolder folder;
  TinyBert bert;
  bert.tensors.erase("pooler.dense.weight");
  bert.tensors.erase("pooler.dense.bias");
  bert.write(folder.path);
  CHECK(mainOf(built(importCheckpoint(folder.path))).getNumResults() == 1);
}

TEST_CASE("a head is left out with a warning") {
  TemporaryFolder folder;
  TinyBert bert;
  bert.config["architectures"] = {"BertForMaskedLM"};
  bert.tensors["cls.predictions.bias"] = {{2}, {0, 0}};
  bert.tensors["cls.predictions.decoder.bias"] = {{2}, {0, 0}};
  bert.write(folder.path);
  Result<Module> imported = importCheckpoint(folder.path);
  REQUIRE(imported);
  REQUIRE(imported.diagnostics().size() == 1);
  CHECK(imported.diagnostics()[0].severity == Diagnostic::Warning);
  CHECK_THAT(imported.diagnostics()[0].text,
             Catch::StartsWith("2 tensors are left out, such as 'cls.predictions.bias'"));
}

TEST_CASE("sentence layouts pool the hidden states") {
  TemporaryFolder folder;
  TinyBert bert;
  bert.write(folder.path);
  Sentences s;
  s.mask = {1, 1, 0, 0, 0, 0}; // the second sentence has no token
  std::vector<double> hidden = bert.hidden(s.batch, s.seq, s.ids, s.mask, {});
  bool normalize = GENERATE(false, true);
  std::string mode = GENERATE("mean_tokens", "cls_token");
  TinyBert::writeSentenceLayout(folder.path, mode, normalize);
  Result<Module> imported = importCheckpoint(folder.path);
  CHECK(findings(imported.diagnostics()) == "");
  auto results = evaluate(built(std::move(imported)), s, /*withTypes=*/false);
  CHECK(difference(results.at("last_hidden_state").reals, hidden) < 1e-12);
  std::vector<double> expected;
  for (int64_t n = 0; n < s.batch; ++n) {
    double square = 0;
    std::vector<double> sentence;
    for (int64_t d = 0; d < TinyBert::kHidden; ++d) {
      const double *first = &hidden[n * s.seq * TinyBert::kHidden + d];
      sentence.push_back(mode == "cls_token" ? first[0]
                         : n == 0            ? (first[0] + first[TinyBert::kHidden]) / 2
                                             : 0.0);
      square += sentence.back() * sentence.back();
    }
    for (double value : sentence)
      expected.push_back(normalize ? value / std::max(std::sqrt(square), 1e-12) : value);
  }
  CHECK(difference(results.at("sentence_embedding").reals, expected) < 1e-12);
}

TEST_CASE("a model may lie in a folder of a sentence layout") {
  TemporaryFolder folder;
  TinyBert bert;
  TinyBert::writeSentenceLayout(folder.path, "mean_tokens", false);
  std::string modules =
      R"([{"path": "0_Transformer", "type": "models.Transformer"},
                            {"path": "1_Pooling", "type": "models.Pooling"}])";
  folder.write("modules.json", modules);
  llvm::sys::fs::create_directory(folder.path + "/0_Transformer");
  bert.write(folder.path + "/0_Transformer");
  CHECK_THAT(built(importCheckpoint(folder.path)).text(),
             Catch::Contains("from \"0_Transformer/model.safetensors\""));
}
