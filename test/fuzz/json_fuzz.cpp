// Any bytes: the JSON reader gives an error of one line, or a value within its limits whose fields
// can all be asked for.
#include "compiler/import/readers/Json.h"
#include "test/fuzz/Target.h"

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return jsonFormat(); }

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
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
    requireError(llvm::toString(result.takeError()), "c");
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
    requireError(llvm::toString(value.takeError()), "c");
    return 0;
  }
  ++fuzz::accepted;
  require(depthOf(*value) <= JsonLimits().depth, "the depth is limited");
  askForFields(*value);
  return 0;
}
