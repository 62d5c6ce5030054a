//===- PriceLines.cpp -------------------------------------------------------------------------===//

#include "compiler/quantize/PriceLines.h"
#include "compiler/import/readers/ReadError.h"

using namespace llvm;

namespace weft {
namespace {

constexpr size_t kMostFieldBytes = 300, kNumbers = 3;
constexpr int64_t kMostThreads = 4096;
constexpr double kMostSeconds = 1e6;
constexpr LineFormat kFormat{"weft-price",    "3",        "price", /*fields=*/8, kMostPriceBytes,
                             kMostFieldBytes, kMostPrices};

/// Whether there are three, of which only the last one may be below zero, or zero.
bool readTimes(StringRef text, PriceRecord &record) {
  SmallVector<StringRef> words;
  text.split(words, ' ');
  if (words.size() != kNumbers)
    return false;
  bool isLess = words.back().consume_front("-");
  double *numbers[kNumbers] = {&record.base, &record.other, &record.more};
  for (size_t i = 0; i < kNumbers; ++i) {
    std::optional<double> seconds = realNumber(words[i]);
    if (!seconds || *seconds > kMostSeconds || (*seconds == 0 && i + 1 < kNumbers))
      return false;
    *numbers[i] = *seconds;
  }
  record.more *= isLess ? -1 : 1;
  return true;
}

Expected<PriceRecord> readLine(StringRef line) {
  Expected<SmallVector<StringRef>> fields = fieldsOf(line, kFormat);
  if (!fields)
    return fields.takeError();
  if (!isKey((*fields)[4]))
    return readError(quotedText((*fields)[4]) + " is no key of programs: 16 hexadecimal digits");
  PriceRecord record{(*fields)[1].str(),
                     (*fields)[2].str(),
                     (*fields)[3].str(),
                     (*fields)[4].str(),
                     (*fields)[5].str(),
                     1,
                     0,
                     0,
                     0};
  StringRef threads = (*fields)[6];
  std::optional<int64_t> count;
  if (threads.consume_front("threads="))
    count = wholeNumber(threads, kMostThreads);
  if (!count || *count < 1)
    return readError(quotedText((*fields)[6]) + " is no number of threads such as threads=1");
  record.threads = *count;
  if (!readTimes((*fields)[7], record))
    return readError(quotedText((*fields)[7]) + " is no times such as 0.0123 0.0045 -0.0078");
  return record;
}

} // namespace

std::string PriceRecord::text() const {
  return lineOf(kFormat,
                {processor, target, build, programs, sizes, "threads=" + std::to_string(threads),
                 realText(base) + " " + realText(other) + " " + realText(more)});
}

Expected<std::vector<PriceRecord>> parsePrices(StringRef text, StringRef name) {
  return recordsOf<PriceRecord>(text, name, kFormat, readLine);
}

Expected<std::vector<PriceRecord>> readPrices(const std::string &path) {
  return recordsOfFile<PriceRecord>(path, kFormat, parsePrices);
}

std::string printPrices(const std::vector<PriceRecord> &records) { return linesOf(records); }

} // namespace weft
