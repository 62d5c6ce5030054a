//===- JsonFields.h - Fields of a data file, one by one ---------------------------------------===//
//
//   class Reader : JsonFields { … take(data.name, "name"); readFlag(data.isFast, "fast");
//                               refuseOthers("of a machine"); if (!error.empty()) … };
//
// For files whose fields are all known: the first error is kept, what follows does not matter, and a
// field that nobody took is refused.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_READERS_JSONFIELDS_H
#define WEFT_COMPILER_IMPORT_READERS_JSONFIELDS_H

#include "compiler/import/readers/Json.h"
#include "compiler/import/readers/ReadError.h"
#include <set>

namespace weft {

class JsonFields {
protected:
  static constexpr double kMostFigure = 1e15; ///< so that no product of some of them is infinite
  static constexpr size_t kMostTextBytes = 2000;

  /// `place` starts errors.
  JsonFields(const nlohmann::json &object, llvm::StringRef place)
      : object(object), fields(object, place), place(place) {}

  void refuse(const std::string &why) {
    if (error.empty())
      error = place + ": " + why;
  }
  template <typename T> void keep(T &to, llvm::Expected<T> value) {
    if (value)
      to = std::move(*value);
    else if (std::string text = toString(value.takeError()); error.empty())
      error = text;
  }

  /// The file is of this kind: "weft.machine/1".
  void takeSchema(const char *schema);
  /// One line of text.
  void take(std::string &text, const std::string &key);
  /// A number above 0.
  void take(double &figure, const std::string &key, double most = kMostFigure);
  /// false where the field is missing.
  void readFlag(bool &flag, const std::string &key);
  /// `what` in messages is the field.
  void check(double figure, const std::string &what, double most);
  void checkLine(const std::string &text, const std::string &what);
  /// Null where there is none, which is no error; the field counts as known.
  const nlohmann::json *optionalAt(const std::string &key) {
    known.insert(key);
    return fields.find(key);
  }
  /// `what`: "of a machine".
  void refuseOthers(const char *what);

  const nlohmann::json &object;
  JsonObject fields;
  std::string place, error;
  std::set<std::string> known;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_JSONFIELDS_H
