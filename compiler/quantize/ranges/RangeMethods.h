//===- RangeMethods.h - What one scale could reach --------------------------------------------===//
//
//   for (const NamedRange &range : rangeCandidates(seen, &histogram)) …       // extremes first
//
// A few large elements may cost more when all others are rounded coarsely for them than when they
// are cut off. Which method knows where to cut differs from tensor to tensor, so all are asked, and
// what the model's answers lose decides. A method is a function of a histogram; to add one, add a
// row to the table.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_RANGES_RANGEMETHODS_H
#define WEFT_COMPILER_QUANTIZE_RANGES_RANGEMETHODS_H

#include "compiler/quantize/ranges/Histogram.h"
#include <string>

namespace weft {

struct NamedRange {
  Range range;
  std::string by; ///< the method, for people
};

/// All but those that are within 2 % of one before. The extremes are the first one; parts of them
/// are there without a histogram, too.
std::vector<NamedRange> rangeCandidates(const Range &seen, const Histogram *histogram);

/// But for a share of the elements, half of it at each end.
Range percentileRange(const Histogram &histogram, double share);
/// With the least squared error of all elements, rounded or cut off.
Range leastSquaresRange(const Histogram &histogram);
/// Of the ranges that cut off as large a part at both ends, the one whose rounded elements are
/// distributed most like the elements (Kullback-Leibler divergence).
Range entropyRange(const Histogram &histogram);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_RANGES_RANGEMETHODS_H
