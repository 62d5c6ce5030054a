// Any bytes: strategies are refused with their line, or hold decisions, each layer's once, which are read again as they were written.
#include "compiler/quantize/StrategyLines.h"
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto lines = parseStrategy(text, "s");
  if (!lines) {
    requireError(llvm::toString(lines.takeError()), "s");
    return 0;
  }
  fuzz::accepted += !lines->empty();
  require(lines->size() <= kMostStrategyLayers, "the number of layers is limited");
  for (const StrategyLine &line : *lines) {
    require(line.text().size() <= kMostStrategyLineBytes, "the length of a line is limited");
    require(line.scale > 0 && line.zero >= 0 && line.zero <= 255, "fields are within their ranges");
    require(std::all_of(line.factors.begin(), line.factors.end(), [](float f) { return f > 0; }),
            "channels are divided by factors above 0");
  }
  std::string written = printStrategy(*lines);
  auto again = parseStrategy(written, "s");
  require(bool(again), "what was written is read");
  require(printStrategy(*again) == written, "files that are written stay as they are");
  return 0;
}
