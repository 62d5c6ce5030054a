// Any bytes: numbers beside a strategy are refused with an error of one line, or are read again as they were written.
#include "compiler/quantize/RoundedWeights.h"
#include "test/compiler/readers/SampleFiles.h"
#include "test/fuzz/Target.h"

#include <algorithm>

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return safetensorsFormat(); }

/// The corpus has headers; behind each are the bytes of 48 blocks, whose scales are above 0.
std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  std::vector<std::string> seeds;
  for (const std::string &header : corpus)
    seeds.push_back(safetensorsFile(header, std::string(984, 'x')));
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(data), size);
  auto weights = readRounded(MappedFile::view("r", bytes));
  if (!weights) {
    requireError(llvm::toString(weights.takeError()), "r");
    return 0;
  }
  fuzz::accepted += !weights->empty();
  for (const auto &[layer, weight] : *weights) {
    size_t blocks = weight->scales.size();
    require(layer >= 0 && blocks > 0, "layers have blocks");
    require((weight->numbers.size() == 16 * blocks && weight->zeros.size() == (blocks + 1) / 2) ||
                (weight->numbers.size() == 32 * blocks && weight->zeros.size() == blocks),
            "a block has 32 numbers and a zero point, of 4 bits or of a byte");
    require(
        std::all_of(weight->scales.begin(), weight->scales.end(), [](float s) { return s > 0; }),
        "scales are above 0");
  }
  std::string written = writeRounded(*weights);
  auto again = readRounded(MappedFile::view("r", {written.data(), written.size()}));
  require(bool(again), "what was written is read");
  require(writeRounded(*again) == written, "files that are written stay as they are");
  return 0;
}
