//===- Json.cpp -------------------------------------------------------------------------------===//
#include "tools/weft/cli/Json.h"

#include <cmath>
#include <cstdio>

namespace weft::cli {

std::string JsonWriter::literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

JsonWriter::JsonWriter(std::string_view schema) {
  object();
  field("schema", schema);
}

JsonWriter &JsonWriter::add(std::string_view name, std::string_view raw) {
  if (!first)
    text += ',';
  if (!open.empty())
    text += '\n' + std::string(2 * open.size(), ' ');
  if (!name.empty())
    text += literal(name) + ": ";
  text += raw;
  first = false;
  return *this;
}

JsonWriter &JsonWriter::object(std::string_view name) {
  add(name, "{");
  open.push_back('}');
  first = true;
  return *this;
}

JsonWriter &JsonWriter::array(std::string_view name) {
  add(name, "[");
  open.push_back(']');
  first = true;
  return *this;
}

JsonWriter &JsonWriter::end() {
  char bracket = open.back();
  open.pop_back();
  if (!first)
    text += '\n' + std::string(2 * open.size(), ' ');
  text += bracket;
  first = false;
  return *this;
}

std::string JsonWriter::literal(double value) {
  if (!std::isfinite(value))
    return "null";
  char buffer[40];
  snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

std::string JsonWriter::finish() {
  while (!open.empty())
    end();
  return text + '\n';
}

} // namespace weft::cli
