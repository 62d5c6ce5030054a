//===- Records.cpp - Reads and writes lines of tuning files -----------------------------------------===//

#include "compiler/tuning/Records.h"
#include "compiler/import/readers/MappedFile.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace llvm;

namespace weft {
namespace {

constexpr StringLiteral kVersion = "weft-tuning 1", kBar = " | ";
constexpr size_t kFields = 8, kMostFieldBytes = 300, kMostNameBytes = 40;
constexpr uint64_t kMostFileBytes = kMostRecords * (kMostRecordBytes + 1);
constexpr int64_t kMostValue = 1000000000, kMostThreads = 4096, kMostGain = 1000000;

bool isName(StringRef text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || isDigit(c); });
}

/// Decimal, as it is printed: without sign or zeros in front.
std::optional<int64_t> number(StringRef text, int64_t most) {
  int64_t value = 0;
  if (text.empty() || !all_of(text, isDigit) || (text.size() > 1 && text.front() == '0') ||
      text.getAsInteger(10, value) || value > most)
    return std::nullopt;
  return value;
}

/// Errors say what is wrong with the line, which its reader names.
class RecordParser {
public:
  explicit RecordParser(StringRef line) : line(line) {}

  Expected<TuningRecord> parse() {
    if (Error error = checkText())
      return std::move(error);
    line.split(fields, kBar);
    if (Error error = checkFields())
      return std::move(error);
    TuningRecord record{fields[1].str(), fields[2].str(), fields[3].str(), {}, fields[5].str(),
                        /*threads=*/0,   /*gain=*/0};
    if (Error error = readPicks(fields[4], record.picks))
      return std::move(error);
    if (Error error = readNumbers(record))
      return std::move(error);
    return record;
  }

private:
  /// Before the fields are looked at.
  Error checkText() const {
    if (line.size() > kMostRecordBytes)
      return readError("longer than " + Twine(kMostRecordBytes) + " bytes");
    if (!all_of(line, isPrint))
      return readError("a byte is no printable ASCII character");
    return Error::success();
  }

  Error checkFields() const {
    StringRef version = fields[0];
    if (version.consume_front("weft-tuning ") && version != "1")
      return readError("the record is of version " + quotedText(version) +
                       "; this Weft reads version 1");
    if (fields[0] != kVersion)
      return readError("no record: it does not begin with 'weft-tuning 1'");
    if (fields.size() != kFields)
      return readError("a record has " + Twine(kFields) + " fields between bars, this has " +
                       Twine(fields.size()));
    for (StringRef field : fields)
      if (field.empty() || field.size() > kMostFieldBytes || field != field.trim())
        return readError("a field is empty, begins or ends with a space, or is too long");
    if (fields[3].size() != 16 ||
        !all_of(fields[3], [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); }))
      return readError(quotedText(fields[3]) + " is no kernel: 16 hexadecimal digits");
    return Error::success();
  }

  /// "contraction rows=7 block=200"
  static Error readPicks(StringRef text, Picks &picks) {
    SmallVector<StringRef> words;
    text.split(words, ' ');
    if (!isName(words[0]))
      return readError(quotedText(words[0]) + " is no name of a schedule");
    picks.schedule = words[0].str();
    for (StringRef word : ArrayRef(words).drop_front()) {
      auto [name, digits] = word.split('=');
      std::optional<int64_t> value = number(digits, kMostValue);
      if (!isName(name) || name == "schedule" || !value)
        return readError(quotedText(word) + " is no pick such as rows=7");
      if (picks.values.count(name.str()))
        return readError(quotedText(name) + " is picked twice");
      if (!picks.values.empty() && name < picks.values.rbegin()->first)
        return readError("picks are sorted by name, but " + quotedText(name) + " is not");
      picks.values[name.str()] = *value;
    }
    return Error::success();
  }

  Error readNumbers(TuningRecord &record) const {
    StringRef threads = fields[6], gain = fields[7];
    std::optional<int64_t> count, whole, tenth;
    if (threads.consume_front("threads="))
      count = number(threads, kMostThreads);
    if (!count || *count < 1)
      return readError(quotedText(fields[6]) + " is no number of threads such as threads=1");
    if (gain.consume_back(" %")) {
      auto [before, behind] = gain.split('.');
      whole = number(before, kMostGain / 10 - 1), tenth = number(behind, 9);
    }
    if (!whole || !tenth)
      return readError(quotedText(fields[7]) + " is no gain such as 4.1 %");
    record.threads = *count;
    record.gain = *whole * 10 + *tenth;
    return Error::success();
  }

  StringRef line;
  SmallVector<StringRef> fields;
};

} // namespace

std::string printPicks(const std::map<std::string, int64_t> &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

std::string TuningRecord::text() const {
  std::string values = printPicks(picks.values), line = kVersion.str();
  for (const std::string &field :
       {processor, target, kernel, picks.schedule + (values.empty() ? "" : " " + values), sizes,
        "threads=" + std::to_string(threads),
        std::to_string(gain / 10) + "." + std::to_string(gain % 10) + " %"})
    line += kBar.str() + field;
  return line;
}

Expected<std::vector<TuningRecord>> parseRecords(StringRef text, StringRef name) {
  std::vector<TuningRecord> records;
  for (size_t number = 1; !text.empty(); ++number) {
    auto wrong = [&](const Twine &reason) {
      return readError(printableText(name) + ": line " + Twine(number) + ": " + reason);
    };
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.empty())
      continue;
    Expected<TuningRecord> record = RecordParser(line).parse();
    if (!record)
      return wrong(toString(record.takeError()));
    if (records.size() == kMostRecords)
      return wrong("more than " + Twine(kMostRecords) + " records");
    records.push_back(std::move(*record));
  }
  return std::move(records);
}

Expected<std::vector<TuningRecord>> readRecords(const std::string &path) {
  Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  if ((*file)->size() > kMostFileBytes)
    return readError(printableText(path) + ": larger than " + Twine(kMostFileBytes) +
                     " bytes, which is too much for a tuning file");
  return parseRecords(toStringRef((*file)->bytes()), path);
}

std::string printRecords(const std::vector<TuningRecord> &records) {
  std::set<std::string> lines;
  for (const TuningRecord &record : records)
    lines.insert(record.text());
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

std::string asField(StringRef text) {
  std::string field;
  for (char c : text.take_front(kMostFieldBytes))
    field += isPrint(c) && c != '|' ? c : '?';
  field = StringRef(field).trim().str();
  return field.empty() ? "-" : field;
}

} // namespace weft
