//===- Json.h - Writes one JSON document ------------------------------------------------------===//
//
//   JsonWriter json("weft.run/1");                  // an object whose first field is "schema"
//   json.field("threads", 2).array("outputs");
//   json.object().field("name", "y").end();         // an element of the array
//   json.end();                                     // the array
//   console.result(json.finish());
//
// Every open object or array is ended by end(); finish() ends the document.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_JSON_H
#define WEFT_TOOLS_WEFT_CLI_JSON_H

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft::cli {

class JsonWriter {
public:
  explicit JsonWriter(std::string_view schema);

  /// Opens an object or array: with a name inside an object, without one inside an array.
  JsonWriter &object(std::string_view name = {});
  JsonWriter &array(std::string_view name = {});
  JsonWriter &end();

  JsonWriter &field(std::string_view name, std::string_view text) {
    return add(name, literal(text));
  }
  JsonWriter &field(std::string_view name, const char *text) {
    return field(name, std::string_view(text));
  }
  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<T>, JsonWriter &> field(std::string_view name, T value) {
    return add(name, literal(value));
  }
  /// An array of numbers or texts, in one line.
  template <typename T> JsonWriter &list(std::string_view name, const std::vector<T> &values) {
    std::string row = "[";
    for (const T &value : values)
      row += (row.size() > 1 ? ", " : "") + literal(value);
    return add(name, row + "]");
  }

  std::string finish();

private:
  JsonWriter &add(std::string_view name, std::string_view raw);
  static std::string literal(std::string_view text);
  static std::string literal(bool value) { return value ? "true" : "false"; }
  static std::string literal(double value); ///< null when not finite: JSON has no such number
  template <typename T>
  static std::enable_if_t<std::is_integral_v<T>, std::string> literal(T value) {
    return std::to_string(value);
  }

  std::string text;
  std::vector<char> open; ///< closing brackets
  bool first = true;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_JSON_H
