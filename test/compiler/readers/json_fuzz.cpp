// Any bytes: the JSON reader gives an error of one line, or a value within its limits whose fields
// can all be asked for.
#include "compiler/import/readers/Json.h"
#include "test/compiler/readers/FuzzTarget.h"

using namespace weft;

std::vector<std::string> weft::fuzzSeeds() {
  return {
      R"({"architectures": ["BertModel"], "hidden_size": 384, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
             "use_cache": true, "classifier_dropout": null, "rope": {"type": "dyn\u0041mic", "factor": [-2.0, 0.5E+3]}})",
      R"([[[], {}], "\"\\\/\b\f\n\r\t\ud83d\ude00", -0, 18446744073709551615, 1e308])", "7"};
}

static unsigned depthOf(const nlohmann::json &value) {
  unsigned deepest = 0;
  if (value.is_structured())
    for (const nlohmann::json &item : value)
      deepest = std::max(deepest, depthOf(item));
  return value.is_structured() ? deepest + 1 : 0;
}

/// The value of a field is right or an error, whatever its type.
template <typename T> static void ask(llvm::Expected<T> result) {
  if (!result)
    fuzzCheckError(llvm::toString(result.takeError()), "c");
}

static void askForFields(const nlohmann::json &value) {
  JsonObject fields(value, "c");
  if (value.is_object())
    for (const auto &[key, item] : value.items()) {
      ask(fields.integer(key));
      ask(fields.positiveInteger(key, 1));
      ask(fields.number(key));
      ask(fields.boolean(key));
      ask(fields.string(key));
      ask(fields.strings(key));
      askForFields(item);
    }
  ask(fields.integer("absent"));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto value = parseJson(llvm::StringRef(reinterpret_cast<const char *>(data), size), "c");
  if (!value) {
    fuzzCheckError(llvm::toString(value.takeError()), "c");
    return 0;
  }
  ++fuzzAccepted;
  fuzzRequire(depthOf(*value) <= JsonLimits().depth, "the depth is limited");
  askForFields(*value);
  return 0;
}
