//===- PriceFile.h - What `weft quantize` timed, kept for the next time ---------------------===//
//
//   PriceFile file;
//   if (Result<Done> done = file.open("model.prices"); !done) …    // read, or to be made
//   file.add(line);
//   if (Result<Done> done = file.store(); !done) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_PRICEFILE_H
#define WEFT_TOOLS_WEFT_QUANTIZE_PRICEFILE_H

#include "compiler/quantize/PriceLines.h"
#include "tools/weft/cli/Result.h"

namespace weft::cli {

class PriceFile {
public:
  /// Reads what there is, and finds out whether it can be written before minutes are spent.
  Result<Done> open(const std::string &path);
  std::string text() const { return printPrices(prices); }
  /// A line that weft::QuantizeOptions::onPrice was given. Those of other builds of Weft on the
  /// same processor, for the same target and number of threads, make room for it.
  void add(const std::string &line);
  /// What was read and what was added, sorted; nothing when that is the same.
  Result<Done> store() const;

private:
  std::string path;
  std::vector<PriceRecord> prices;
  bool isChanged = false;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_PRICEFILE_H
