// Any bytes: tuning files are refused with their line, or hold records that are written as they were read, sorted and each once.
#include "compiler/tuning/Records.h"
#include "test/fuzz/Target.h"

#include <algorithm>

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() {
  static const TokenFormat format(/*lines=*/true);
  return format;
}

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

static std::vector<TuningRecord> readAgain(const std::string &text) {
  llvm::Expected<std::vector<TuningRecord>> records = parseRecords(text, "t");
  require(bool(records), "what was written is read");
  return std::move(*records);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto records = parseRecords(text, "t");
  if (!records) {
    requireError(llvm::toString(records.takeError()), "t");
    return 0;
  }
  fuzz::accepted += !records->empty();
  require(records->size() <= kMostRecords, "the number of records is limited");
  for (const TuningRecord &record : *records) {
    require(record.text().size() <= kMostRecordBytes, "the length of a record is limited");
    require(text.contains(record.text()), "a record is written as it was read");
    require(!record.picks.schedule.empty() && record.threads >= 1 && record.gain >= 0,
            "fields are within their ranges");
  }
  std::string written = printRecords(*records);
  std::vector<TuningRecord> again = readAgain(written);
  require(printRecords(again) == written, "files that are written stay as they are");
  require(std::is_sorted(again.begin(), again.end(),
                         [](const auto &a, const auto &b) { return a.text() < b.text(); }),
          "records are sorted");
  return 0;
}
