//===- JsonFields.cpp -------------------------------------------------------------------------===//

#include "compiler/import/readers/JsonFields.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace weft {

void JsonFields::takeSchema(const char *schema) {
  std::string given;
  take(given, "schema");
  if (given != schema)
    refuse("'schema' must be \"" + std::string(schema) + "\"");
}

void JsonFields::checkLine(const std::string &text, const std::string &what) {
  if (error.empty() && (text.empty() || text.size() > kMostTextBytes ||
                        any_of(text, [](unsigned char c) { return c < ' ' || c == 127; })))
    refuse(what + " must be a line of text");
}

void JsonFields::take(std::string &text, const std::string &key) {
  known.insert(key);
  keep(text, fields.string(key));
  checkLine(text, "'" + key + "'");
}

void JsonFields::take(double &figure, const std::string &key, double most) {
  known.insert(key);
  keep(figure, fields.number(key));
  check(figure, "'" + key + "'", most);
}

void JsonFields::readFlag(bool &flag, const std::string &key) {
  known.insert(key);
  keep(flag, fields.boolean(key, false));
}

void JsonFields::check(double figure, const std::string &what, double most) {
  if (error.empty() && !(figure > 1 / kMostFigure && figure <= most))
    refuse(what + " must be above 0" +
           (most < kMostFigure ? " and at most " + std::to_string(int64_t(most)) : ""));
}

void JsonFields::refuseOthers(const char *what) {
  if (object.is_object())
    for (const auto &[key, value] : object.items())
      if (!known.count(key))
        refuse(quotedText(key) + " is no field " + what);
}

} // namespace weft
