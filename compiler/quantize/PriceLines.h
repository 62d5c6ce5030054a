//===- PriceLines.h - What programs took when they were timed in turns, as lines of text ------===//
//
//   weft-price 3 | AMD EPYC 9B14 (25/17) | x86:v4 | weft 0.1.0 (…) | 8b1d33… | … | 0.01 2e-3 -8e-3
//
// Beside the records of `weft tune`, and merged as these are. Any bytes are read into records or an
// error; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_PRICELINES_H
#define WEFT_COMPILER_QUANTIZE_PRICELINES_H

#include "compiler/tuning/RecordLines.h"

namespace weft {

struct PriceRecord {
  std::string processor, target;
  std::string build;    ///< kernelBuild of the Weft that made the programs' code
  std::string programs; ///< a key of the two programs, and of all sizes that they were called with
  std::string sizes;    ///< of the calls, for people
  int64_t threads;
  double base, other; ///< seconds
  double more;        ///< seconds that kernels which are others take

  std::string text() const;
};

/// Limits of what is read.
constexpr size_t kMostPriceBytes = 1000, kMostPrices = 100000;

llvm::Expected<std::vector<PriceRecord>> parsePrices(llvm::StringRef text, llvm::StringRef name);
llvm::Expected<std::vector<PriceRecord>> readPrices(const std::string &path);
/// As a file has them: sorted, each once.
std::string printPrices(const std::vector<PriceRecord> &records);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_PRICELINES_H
