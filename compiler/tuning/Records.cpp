//===- Records.cpp - Reads and writes lines of tuning files -----------------------------------------===//

#include "compiler/tuning/Records.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {
namespace {

constexpr size_t kMostFieldBytes = 300, kMostNameBytes = 40;
constexpr int64_t kMostValue = 1000000000, kMostThreads = 4096, kMostGain = 1000000;
constexpr LineFormat kFormat{"weft-tuning",   "1",         "record", /*fields=*/8, kMostRecordBytes,
                             kMostFieldBytes, kMostRecords};

bool isName(StringRef text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || isDigit(c); });
}

/// Errors say what is wrong with the line, which its reader names.
class RecordParser {
public:
  explicit RecordParser(StringRef line) : line(line) {}

  Expected<TuningRecord> parse() {
    Expected<SmallVector<StringRef>> split = fieldsOf(line, kFormat);
    if (!split)
      return split.takeError();
    fields = std::move(*split);
    if (!isKey(fields[3]))
      return readError(quotedText(fields[3]) + " is no kernel: 16 hexadecimal digits");
    TuningRecord record{fields[1].str(), fields[2].str(), fields[3].str(), {}, fields[5].str(),
                        /*threads=*/0,   /*gain=*/0};
    if (Error error = readPicks(fields[4], record.picks))
      return std::move(error);
    if (Error error = readNumbers(record))
      return std::move(error);
    return record;
  }

private:
  /// "contraction rows=7 block=200"
  static Error readPicks(StringRef text, Picks &picks) {
    SmallVector<StringRef> words;
    text.split(words, ' ');
    if (!isName(words[0]))
      return readError(quotedText(words[0]) + " is no name of a schedule");
    picks.schedule = words[0].str();
    for (StringRef word : ArrayRef(words).drop_front()) {
      auto [name, digits] = word.split('=');
      std::optional<int64_t> value = wholeNumber(digits, kMostValue);
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
      count = wholeNumber(threads, kMostThreads);
    if (!count || *count < 1)
      return readError(quotedText(fields[6]) + " is no number of threads such as threads=1");
    if (gain.consume_back(" %")) {
      auto [before, behind] = gain.split('.');
      whole = wholeNumber(before, kMostGain / 10 - 1), tenth = wholeNumber(behind, 9);
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
  std::string values = printPicks(picks.values);
  return lineOf(kFormat,
                {processor, target, kernel, picks.schedule + (values.empty() ? "" : " " + values),
                 sizes, "threads=" + std::to_string(threads),
                 std::to_string(gain / 10) + "." + std::to_string(gain % 10) + " %"});
}

Expected<std::vector<TuningRecord>> parseRecords(StringRef text, StringRef name) {
  return recordsOf<TuningRecord>(text, name, kFormat,
                                 [](StringRef line) { return RecordParser(line).parse(); });
}

Expected<std::vector<TuningRecord>> readRecords(const std::string &path) {
  return recordsOfFile<TuningRecord>(path, kFormat, parseRecords);
}

std::string printRecords(const std::vector<TuningRecord> &records) { return linesOf(records); }

} // namespace weft
