//===- RecordLines.cpp ------------------------------------------------------------------------===//

#include "compiler/tuning/RecordLines.h"
#include "compiler/import/readers/MappedFile.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace weft {
namespace {

constexpr StringLiteral kBar = " | ";
constexpr size_t kMostAsField = 300, kKeyDigits = 16;

std::string beginOf(const LineFormat &format) { return (format.kind + " " + format.version).str(); }

} // namespace

Expected<SmallVector<StringRef>> fieldsOf(StringRef line, const LineFormat &format) {
  if (line.size() > format.mostBytes)
    return readError("longer than " + Twine(format.mostBytes) + " bytes");
  if (!all_of(line, isPrint))
    return readError("a byte is no printable ASCII character");
  SmallVector<StringRef> fields;
  line.split(fields, kBar);
  StringRef version = fields[0];
  if (version.consume_front(format.kind) && version.consume_front(" ") && version != format.version)
    return readError("the " + format.noun + " is of version " + quotedText(version) +
                     "; this Weft reads version " + format.version);
  if (fields[0] != beginOf(format))
    return readError("no " + format.noun + ": it does not begin with '" + beginOf(format) + "'");
  if (fields.size() != format.fields)
    return readError("a " + format.noun + " has " + Twine(format.fields) +
                     " fields between bars, this has " + Twine(fields.size()));
  for (StringRef field : fields)
    if (field.empty() || field.size() > format.mostFieldBytes || field != field.trim())
      return readError("a field is empty, begins or ends with a space, or is too long");
  return fields;
}

std::string lineOf(const LineFormat &format, const std::vector<std::string> &fields) {
  std::string line = beginOf(format);
  for (const std::string &field : fields)
    line += kBar.str() + field;
  return line;
}

Error eachLine(StringRef text, StringRef name, const LineFormat &format,
               function_ref<Error(StringRef)> read) {
  size_t count = 0;
  for (size_t number = 1; !text.empty(); ++number) {
    auto wrong = [&](const Twine &reason) {
      return readError(printableText(name) + ": line " + Twine(number) + ": " + reason);
    };
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.empty())
      continue;
    if (count++ == format.mostLines)
      return wrong("more than " + Twine(format.mostLines) + " " + format.noun + "s");
    if (Error error = read(line))
      return wrong(toString(std::move(error)));
  }
  return Error::success();
}

Error withFile(const std::string &path, const LineFormat &format,
               function_ref<Error(StringRef)> use) {
  Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  uint64_t most = uint64_t(format.mostLines) * (format.mostBytes + 1);
  if ((*file)->size() > most)
    return readError(printableText(path) + ": larger than " + Twine(most) +
                     " bytes, which is too much for a file of " + format.noun + "s");
  return use(toStringRef((*file)->bytes()));
}

std::string sortedLines(const std::set<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

std::optional<int64_t> wholeNumber(StringRef text, int64_t most) {
  int64_t value = 0;
  if (text.empty() || !all_of(text, isDigit) || (text.size() > 1 && text.front() == '0') ||
      text.getAsInteger(10, value) || value > most)
    return std::nullopt;
  return value;
}

std::optional<double> realNumber(StringRef text) {
  double number = 0;
  if (text.empty() || !isDigit(text.front()) ||
      text.find_first_not_of("0123456789.eE+-") != StringRef::npos || text.getAsDouble(number) ||
      !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::string realText(double number) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", number);
  return text;
}

bool isKey(StringRef text) {
  return text.size() == kKeyDigits &&
         all_of(text, [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); });
}

std::string asField(StringRef text) {
  std::string field;
  for (char c : text.take_front(kMostAsField))
    field += isPrint(c) && c != '|' ? c : '?';
  field = StringRef(field).trim().str();
  return field.empty() ? "-" : field;
}

} // namespace weft
