// Any bytes: files of prices are refused with their line, or hold records, sorted and each once, which are read again as they were written.
#include "compiler/quantize/PriceLines.h"
#include "test/fuzz/Target.h"
#include <cmath>

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() {
  static const TokenFormat format(/*lines=*/true);
  return format;
}

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto records = parsePrices(text, "p");
  if (!records) {
    requireError(llvm::toString(records.takeError()), "p");
    return 0;
  }
  fuzz::accepted += !records->empty();
  require(records->size() <= kMostPrices, "the number of records is limited");
  for (const PriceRecord &record : *records) {
    require(record.text().size() <= kMostPriceBytes, "the length of a record is limited");
    require(record.base > 0 && record.other > 0 && std::isfinite(record.more) &&
                record.threads >= 1,
            "fields are within their ranges");
  }
  std::string written = printPrices(*records);
  auto again = parsePrices(written, "p");
  require(bool(again), "what was written is read");
  require(printPrices(*again) == written, "files that are written stay as they are");
  return 0;
}
