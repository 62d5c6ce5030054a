// What importing a checkpoint refuses: one line each, which names the file and the key or tensor.

#include "compiler/import/checkpoint/Checkpoint.h"
#include "test/compiler/checkpoint/ModuleTest.h"
#include "test/compiler/checkpoint/TinyBert.h"
#include "test/compiler/readers/ReaderTest.h"
#include <functional>

using namespace weft;
using Change = std::function<void(TinyBert &)>;

/// The only finding, without the folder's path.
static std::string onlyFinding(const std::string &folder) {
  Result<Module> imported = importCheckpoint(folder);
  CHECK_FALSE(imported);
  std::string text = findings(imported.diagnostics());
  CHECK(imported.diagnostics().size() == 1);
  CHECK(text.find('\n') == std::string::npos);
  for (size_t at; (at = text.find(folder + "/")) != std::string::npos;)
    text.erase(at, folder.size() + 1);
  return text;
}

static std::string refusal(const Change &change) {
  TemporaryFolder folder;
  TinyBert bert;
  change(bert);
  bert.write(folder.path);
  return onlyFinding(folder.path);
}

static std::string configRefusal(const std::string &key, const nlohmann::json &value) {
  return refusal([&](TinyBert &bert) { bert.config[key] = value; });
}

TEST_CASE("unknown families are refused with the known ones") {
  CHECK(configRefusal("model_type", "gpt2") ==
        "config.json: model type 'gpt2' is not supported (supported: bert)");
  CHECK(configRefusal("model_type", 7) == "config.json: 'model_type' must be a string, but is 7");
  CHECK(refusal([](TinyBert &bert) {
          bert.config.erase("model_type");
          bert.config["architectures"] = {"BertigoModel"};
        }) == "config.json: model type 'BertigoModel' is not supported (supported: bert)");
  CHECK(refusal([](TinyBert &bert) { bert.config = nlohmann::json::object(); }) ==
        "config.json: has no 'model_type' (supported: bert)");
}

TEST_CASE("configuration values that the family does not have are refused by key") {
  CHECK(configRefusal("hidden_act", "mish") ==
        "config.json: 'hidden_act' must be one of gelu, gelu_new, gelu_fast, gelu_python, "
        "gelu_pytorch_tanh, quick_gelu, relu, "
        "sigmoid, silu, swish, tanh, but is \"mish\"");
  CHECK(configRefusal("position_embedding_type", "relative_key") ==
        "config.json: 'position_embedding_type' must be \"absolute\", but is \"relative_key\"");
  CHECK(configRefusal("is_decoder", true) ==
        "config.json: 'is_decoder' must be false, but is true");
  CHECK(configRefusal("add_cross_attention", "x") ==
        "config.json: 'add_cross_attention' must be false, but is \"x\"");
  CHECK(configRefusal("num_attention_heads", 3) ==
        "config.json: 'num_attention_heads' must be a divisor of 'hidden_size', which is 8, but is "
        "3");
  CHECK(configRefusal("layer_norm_eps", -1.0) ==
        "config.json: 'layer_norm_eps' must be a number that is not negative, but is -1.0");
  CHECK(configRefusal("hidden_size", "wide") ==
        "config.json: 'hidden_size' must be a positive integer, but is \"wide\"");
  CHECK(configRefusal("num_hidden_layers", 0) ==
        "config.json: 'num_hidden_layers' must be a positive integer, but is 0");
  CHECK_THAT(
      refusal([](TinyBert &bert) { bert.config.erase("intermediate_size"); }),
      Catch::Equals("config.json: 'intermediate_size' is missing, but must be a positive integer"));
}

TEST_CASE("tensors that are missing, misshapen or of another type are refused by name") {
  CHECK(refusal([](TinyBert &bert) {
          bert.tensors.erase("encoder.layer.1.output.dense.bias");
        }).find("tensor 'encoder.layer.1.output.dense.bias' is missing") != std::string::npos);
  CHECK(refusal([](TinyBert &bert) {
          bert.tensors.erase("embeddings.word_embeddings.weight");
        }).find("tensor 'embeddings.word_embeddings.weight' is missing") != std::string::npos);
  CHECK(configRefusal("vocab_size", 12) ==
        "model.safetensors: tensor 'embeddings.word_embeddings.weight' is [11, 8], but config.json "
        "asks for [12, 8]");
  CHECK(configRefusal("num_hidden_layers", int64_t(1) << 60)
            .find("tensor 'encoder.layer.2.attention.self.query.weight' is missing") !=
        std::string::npos);
  CHECK(refusal([](TinyBert &bert) { bert.dtype = "I32"; }) ==
        "model.safetensors: tensor 'embeddings.word_embeddings.weight' has type I32, but a weight "
        "must be F64, F32, F16 or BF16");
}

TEST_CASE("files that are missing or broken are refused by the readers' messages") {
  TemporaryFolder folder;
  CHECK_THAT(onlyFinding(folder.path), Catch::Contains("config.json"));
  CHECK_THAT(onlyFinding(folder.path + "/nowhere"), Catch::Contains("is not a directory"));
  TinyBert bert;
  bert.write(folder.path);
  folder.write("model.safetensors", "12345678{");
  CHECK_THAT(onlyFinding(folder.path),
             Catch::StartsWith(": model.safetensors: ") || Catch::Contains("model.safetensors"));
  folder.write("config.json", "{\"model_type\": ");
  CHECK_THAT(onlyFinding(folder.path), Catch::Contains("config.json"));
}

static std::string modulesRefusal(const std::string &modules, const std::string &pooling) {
  TemporaryFolder folder;
  TinyBert bert;
  bert.write(folder.path);
  TinyBert::writeSentenceLayout(folder.path, "mean_tokens", true);
  if (!modules.empty())
    folder.write("modules.json", modules);
  if (!pooling.empty())
    folder.write("1_Pooling/config.json", pooling);
  return onlyFinding(folder.path);
}

TEST_CASE("sentence layouts with other modules or pooling are refused") {
  CHECK_THAT(
      modulesRefusal("", R"({"pooling_mode_max_tokens": true})"),
      Catch::Contains(
          "1_Pooling/config.json: pooling by 'max' is not supported (supported: 'mean', 'cls')"));
  CHECK_THAT(
      modulesRefusal("", R"({"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true})"),
      Catch::Contains("pooling by 'max and mean' is not supported"));
  CHECK_THAT(modulesRefusal("", "{}"),
             Catch::Contains("1_Pooling/config.json: switches no pooling mode on"));
  CHECK_THAT(modulesRefusal("{}", ""), Catch::Contains("modules.json: must be a list of modules"));
  CHECK_THAT(
      modulesRefusal(
          R"([{"type": "a.Transformer"}, {"type": "a.Pooling", "path": "../elsewhere"}])", ""),
      Catch::Contains(
          "modules.json: module 1: 'path' must be the name of a folder beside modules.json"));
  CHECK_THAT(modulesRefusal(R"([{"type": "a.Transformer"}, {"type": "a.Dense"}])", ""),
             Catch::Contains("modules.json: module 1: has type 'a.Dense', but supported is only "
                             "Transformer, Pooling, Normalize"));
  CHECK_THAT(modulesRefusal(R"([{"type": "a.Transformer"}, 3])", ""),
             Catch::Contains("modules.json: module 1"));
}
