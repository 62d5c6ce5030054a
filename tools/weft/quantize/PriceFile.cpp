//===- PriceFile.cpp --------------------------------------------------------------------------===//

#include "tools/weft/quantize/PriceFile.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/TensorFile.h"

#include "llvm/ADT/STLExtras.h"
#include <filesystem>

namespace weft::cli {

/// Whether what a Weft of other kernels took on this machine is what a file would only grow by.
static bool isOfOtherBuild(const PriceRecord &old, const PriceRecord &fresh) {
  return old.processor == fresh.processor && old.target == fresh.target &&
         old.threads == fresh.threads && old.build != fresh.build;
}

Result<Done> PriceFile::open(const std::string &name) {
  path = name;
  std::error_code problem;
  if (std::filesystem::exists(path, problem)) {
    llvm::Expected<std::vector<PriceRecord>> records = readPrices(path);
    if (!records)
      return Failure{ExitInputRefused, llvm::toString(records.takeError()), "", "W0325"};
    prices = std::move(*records);
  }
  OutputFiles trial;
  return trial.addText(path, "");
}

void PriceFile::add(const std::string &line) {
  llvm::Expected<std::vector<PriceRecord>> records = parsePrices(line, path);
  if (!records) { // a time that no record has
    llvm::consumeError(records.takeError());
    return;
  }
  for (const PriceRecord &fresh : *records)
    llvm::erase_if(prices, [&](const PriceRecord &old) { return isOfOtherBuild(old, fresh); });
  prices.insert(prices.end(), records->begin(), records->end());
  isChanged = true;
}

Result<Done> PriceFile::store() const {
  if (!isChanged)
    return Done{};
  OutputFiles files;
  if (Result<Done> done = files.addText(path, printPrices(prices)); !done)
    return done;
  return files.commit();
}

} // namespace weft::cli
