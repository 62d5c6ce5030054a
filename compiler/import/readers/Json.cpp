//===- Json.cpp - Bounded JSON and fields with readable errors --------------------------------===//

#include "compiler/import/readers/Json.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace llvm;
using nlohmann::json;

namespace weft {

namespace {
/// Looks at every event before a value is built, so that nothing large or deep is ever built.
class JsonGuard : public nlohmann::json_sax<json> {
public:
  explicit JsonGuard(const JsonLimits &limits) : limits(limits) {}
  std::string reason;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t &) override { return value(); }
  bool string(string_t &) override { return value(); }
  bool binary(binary_t &) override { return value(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }

  bool key(string_t &name) override {
    if (!keys.back().insert(name).second)
      return refuse("the key " + quotedText(name) + " occurs twice in one object");
    return value();
  }

  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...; last read: '...'":
    // the library's own label and the text it quotes are of no use to a user.
    StringRef text = StringRef(error.what()).split("; last read").first;
    text.consume_front("[");
    StringRef inner = text.split("] ").second;
    text = inner.empty() ? text : inner;
    text.consume_front("parse error ");
    return refuse("is not valid JSON " + text.take_front(160).str());
  }

private:
  bool refuse(std::string why) {
    if (reason.empty())
      reason = std::move(why);
    return false;
  }
  bool value() {
    return ++values <= limits.values ||
           refuse("has more than " + std::to_string(limits.values) + " values, the reader's limit");
  }
  bool open() {
    keys.emplace_back();
    if (keys.size() > limits.depth)
      return refuse("is nested more than " + std::to_string(limits.depth) +
                    " levels deep, the reader's limit");
    return value();
  }
  bool close() {
    keys.pop_back();
    return true;
  }

  const JsonLimits &limits;
  uint64_t values = 0;
  std::vector<StringSet<>> keys; ///< one set per open object or array
};
} // namespace

Expected<json> parseJson(StringRef text, StringRef place, const JsonLimits &limits) {
  if (text.size() > limits.bytes)
    return readError(place + ": has " + Twine(text.size()) + " bytes, but the reader's limit is " +
                     Twine(limits.bytes));
  JsonGuard guard(limits);
  if (!json::sax_parse(text.begin(), text.end(), &guard))
    return readError(place + ": " + guard.reason);
  json result = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (result.is_discarded())
    return readError(place + ": is not valid JSON");
  return result;
}

std::string jsonText(const json &value) {
  constexpr size_t maxLength = 60;
  if (value.is_object() && !value.empty())
    return "an object";
  if (value.is_array() && value.size() > 8)
    return "a list of " + std::to_string(value.size());
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  return text.size() <= maxLength ? text : text.substr(0, maxLength) + "...";
}

const json *JsonObject::find(StringRef key) const {
  if (!object.is_object())
    return nullptr;
  auto position = object.find(key.str());
  return position == object.end() || position->is_null() ? nullptr : &*position;
}

Error JsonObject::mismatch(StringRef key, StringRef what) const {
  const json *value = find(key);
  if (!object.is_object())
    return readError(place + ": must be an object, but is " + jsonText(object));
  if (!value)
    return readError(place + ": " + quotedText(key) + " is missing, but must be " + what);
  return readError(place + ": " + quotedText(key) + " must be " + what + ", but is " +
                   jsonText(*value));
}

template <typename T, typename Read>
Expected<T> JsonObject::field(StringRef key, const std::optional<T> &fallback, const char *what,
                              Read read) const {
  const json *value = find(key);
  if (!value && object.is_object() && fallback)
    return *fallback;
  std::optional<T> result = value ? read(*value) : std::nullopt;
  if (!result)
    return mismatch(key, what);
  return *result;
}

static std::optional<int64_t> asInteger(const json &value) {
  if (!value.is_number_integer())
    return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX))
    return std::nullopt;
  return value.get<int64_t>();
}

Expected<int64_t> JsonObject::integer(StringRef key, std::optional<int64_t> fallback) const {
  return field<int64_t>(key, fallback, "an integer", asInteger);
}

Expected<int64_t> JsonObject::positiveInteger(StringRef key,
                                              std::optional<int64_t> fallback) const {
  return field<int64_t>(key, fallback, "a positive integer",
                        [](const json &value) -> std::optional<int64_t> {
                          std::optional<int64_t> result = asInteger(value);
                          return result && *result > 0 ? result : std::nullopt;
                        });
}

Expected<double> JsonObject::number(StringRef key, std::optional<double> fallback) const {
  return field<double>(key, fallback, "a number", [](const json &value) -> std::optional<double> {
    if (!value.is_number())
      return std::nullopt;
    return value.get<double>();
  });
}

Expected<bool> JsonObject::boolean(StringRef key, std::optional<bool> fallback) const {
  return field<bool>(key, fallback, "true or false", [](const json &value) -> std::optional<bool> {
    if (!value.is_boolean())
      return std::nullopt;
    return value.get<bool>();
  });
}

Expected<std::string> JsonObject::string(StringRef key, std::optional<std::string> fallback) const {
  return field<std::string>(key, fallback, "a string",
                            [](const json &value) -> std::optional<std::string> {
                              if (!value.is_string())
                                return std::nullopt;
                              return value.get<std::string>();
                            });
}

Expected<std::vector<std::string>>
JsonObject::strings(StringRef key, std::optional<std::vector<std::string>> fallback) const {
  using Strings = std::vector<std::string>;
  return field<Strings>(key, fallback, "a list of strings",
                        [](const json &value) -> std::optional<Strings> {
                          if (!value.is_array())
                            return std::nullopt;
                          Strings result;
                          for (const json &item : value) {
                            if (!item.is_string())
                              return std::nullopt;
                            result.push_back(item.get<std::string>());
                          }
                          return result;
                        });
}

} // namespace weft
