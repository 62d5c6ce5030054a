// JSON is parsed within limits and its fields are read with errors that name them.
#include "compiler/import/readers/Json.h"
#include "test/compiler/readers/ReaderTest.h"

using namespace weft;

static std::string refusal(llvm::StringRef text, const JsonLimits &limits = {}) {
  return errorOf(parseJson(text, "config.json", limits));
}

TEST_CASE("well-formed JSON is parsed") {
  auto value = valueOf(parseJson(R"( {"a": [1, -2.5, "x\u00e9", null, true], "b": {}} )", "p"));
  CHECK(value["a"].size() == 5);
  CHECK(value["a"][2] == "x\xc3\xa9");
  CHECK(valueOf(parseJson("3", "p")) == 3);
}

TEST_CASE("malformed JSON is refused in one line") {
  CHECK(refusal("") ==
        "config.json: is not valid JSON at line 1, column 1: syntax error while parsing "
        "value - unexpected end of input; expected '[', '{', or a literal");
  for (const char *text : {"{", "{\"a\":1,}", "[1 2]", "nul", "{\"a\" 1}", "\"\xff\"", "1 1", "{}x",
                           "\"a\nb\"", "[1e999]", "[NaN]", "// c\n1", "'x'"}) {
    CAPTURE(text);
    std::string error = refusal(text);
    CHECK(error.rfind("config.json: is not valid JSON", 0) == 0);
    CHECK(error.find('\n') == std::string::npos);
    CHECK(error.size() < 250);
  }
  CHECK(refusal(std::string("{\"a\":") + '\0' + "}") != "");
}

TEST_CASE("a key that occurs twice is refused, in one object only") {
  CHECK(refusal(R"({"a":{"x":1,"x":2}})") == "config.json: the key 'x' occurs twice in one object");
  CHECK(refusal(R"({"x":{"x":1},"y":[{"x":1},{"x":1}]})") == "");
}

TEST_CASE("depth, size and number of values are limited") {
  std::string deep = std::string(2000000, '[');
  CHECK(refusal(deep) == "config.json: is nested more than 64 levels deep, the reader's limit");
  CHECK(refusal(std::string(64, '[') + std::string(64, ']')) == "");
  CHECK(refusal(std::string(65, '[') + std::string(65, ']')) ==
        "config.json: is nested more than 64 levels deep, the reader's limit");
  JsonLimits limits;
  limits.values = 4;
  CHECK(refusal("[1,2,3]", limits) == "");
  CHECK(refusal("[1,2,3,4]", limits) == "config.json: has more than 4 values, the reader's limit");
  limits.bytes = 3;
  CHECK(refusal("[ 1]", limits) == "config.json: has 4 bytes, but the reader's limit is 3");
}

TEST_CASE("fields are read by type") {
  auto value = valueOf(parseJson(
      R"({"n": 12, "m": -3, "eps": 1e-12, "on": false, "act": "gelu", "l": ["A"], "none": null})",
      "config.json"));
  JsonObject fields(value, "config.json");
  CHECK(valueOf(fields.positiveInteger("n")) == 12);
  CHECK(valueOf(fields.integer("m")) == -3);
  CHECK(valueOf(fields.number("eps")) == 1e-12);
  CHECK(valueOf(fields.number("n")) == 12.0);
  CHECK(valueOf(fields.boolean("on", true)) == false);
  CHECK(valueOf(fields.string("act")) == "gelu");
  CHECK(valueOf(fields.strings("l")) == std::vector<std::string>{"A"});
  CHECK(valueOf(fields.integer("none", 7)) == 7);
  CHECK(valueOf(fields.string("absent", std::string("x"))) == "x");
}

TEST_CASE("a field of another type is refused by name") {
  auto value = valueOf(parseJson(
      R"({"hidden_size": "x", "zero": 0, "half": 0.5, "big": 18446744073709551615, "o": {"a": 1},
          "l": [1], "many": [1,2,3,4,5,6,7,8,9], "none": null})",
      "config.json"));
  JsonObject fields(value, "config.json");
  CHECK(errorOf(fields.positiveInteger("hidden_size")) ==
        R"(config.json: 'hidden_size' must be a positive integer, but is "x")");
  CHECK(errorOf(fields.positiveInteger("zero")) ==
        "config.json: 'zero' must be a positive integer, but is 0");
  CHECK(errorOf(fields.integer("half", 3)) == "config.json: 'half' must be an integer, but is 0.5");
  CHECK(errorOf(fields.integer("big")) ==
        "config.json: 'big' must be an integer, but is 18446744073709551615");
  CHECK(errorOf(fields.string("o")) == "config.json: 'o' must be a string, but is an object");
  CHECK(errorOf(fields.strings("l")) == "config.json: 'l' must be a list of strings, but is [1]");
  CHECK(errorOf(fields.number("many")) ==
        "config.json: 'many' must be a number, but is a list of 9");
  CHECK(errorOf(fields.boolean("none")) ==
        "config.json: 'none' is missing, but must be true or false");
  nlohmann::json list = nlohmann::json::array({1});
  CHECK(errorOf(JsonObject(list, "config.json").integer("a", 3)) ==
        "config.json: must be an object, but is [1]");
}
