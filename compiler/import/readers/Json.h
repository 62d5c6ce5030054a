//===- Json.h - Bounded JSON and fields with readable errors ----------------------------------===//
//
// parseJson guards nlohmann's parser with limits and lets no exception out; JsonObject reads fields
// of a known type.
//
//   Expected<nlohmann::json> config = parseJson(text, "config.json");
//   Expected<int64_t> width = JsonObject(*config, "config.json").positiveInteger("hidden_size");
//   // config.json: 'hidden_size' must be a positive integer, but is "x"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_READERS_JSON_H
#define WEFT_COMPILER_IMPORT_READERS_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct JsonLimits {
  uint64_t bytes = 16'000'000; ///< of text
  uint64_t values = 2'000'000; ///< numbers, strings, ..., objects and arrays, keys
  unsigned depth = 64;         ///< of objects and arrays
};

/// Parses one JSON value. Refuses duplicate keys, text after the value and what exceeds `limits`;
/// `place` starts the error.
llvm::Expected<nlohmann::json> parseJson(llvm::StringRef text, llvm::StringRef place,
                                         const JsonLimits &limits = {});

/// A value in one line, cut to 60 characters: `"x"`, `[1,2`...
std::string jsonText(const nlohmann::json &value);

/// Reads fields of an object. A field that is absent or null gives `fallback`, or an error where
/// there is none.
class JsonObject {
public:
  /// `object` must outlive this; when it is not an object, every field is an error that says so.
  JsonObject(const nlohmann::json &object, llvm::StringRef place) : object(object), place(place) {}

  llvm::Expected<int64_t> integer(llvm::StringRef key,
                                  std::optional<int64_t> fallback = std::nullopt) const;
  llvm::Expected<int64_t> positiveInteger(llvm::StringRef key,
                                          std::optional<int64_t> fallback = std::nullopt) const;
  /// Integers count as numbers.
  llvm::Expected<double> number(llvm::StringRef key,
                                std::optional<double> fallback = std::nullopt) const;
  llvm::Expected<bool> boolean(llvm::StringRef key,
                               std::optional<bool> fallback = std::nullopt) const;
  llvm::Expected<std::string> string(llvm::StringRef key,
                                     std::optional<std::string> fallback = std::nullopt) const;
  llvm::Expected<std::vector<std::string>>
  strings(llvm::StringRef key,
          std::optional<std::vector<std::string>> fallback = std::nullopt) const;

  /// Null when absent, JSON null, or when this is no object.
  const nlohmann::json *find(llvm::StringRef key) const;

  /// "config.json: 'hidden_size' must be <what>, but is <value>", for checks of the caller.
  llvm::Error mismatch(llvm::StringRef key, llvm::StringRef what) const;

private:
  template <typename T, typename Read>
  llvm::Expected<T> field(llvm::StringRef key, const std::optional<T> &fallback, const char *what,
                          Read read) const;

  const nlohmann::json &object;
  std::string place;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_JSON_H
