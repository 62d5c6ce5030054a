//===- Compare.h - Tensors in one line, and how far two differ --------------------------------===//
//
//   Summary s = summarize(y);                       // min, mean, max, number of NaNs
//   Comparison c = compareTensors(y, expected, 1e-4);
//   if (!c.good) say(c.worst, c.index, …);
//
// The error of an element is |got - expected| / max(1, |expected|). NaN equals NaN, infinities
// equal themselves. Integers and booleans have to be equal unless a tolerance was asked for.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_COMPARE_H
#define WEFT_TOOLS_WEFT_CLI_COMPARE_H

#include "tools/weft/cli/HostTensor.h"

#include <string>
#include <vector>

namespace weft::cli {

constexpr double kDefaultTolerance = 1e-4;

struct Summary {
  double min, mean, max; ///< of what is not NaN; NaN when there is nothing
  int64_t nans;
};
Summary summarize(const HostTensor &tensor);

struct Comparison {
  bool good;
  double worst;               ///< the largest error; infinity where exactly one is NaN or infinite
  std::vector<int64_t> index; ///< where; empty for a tensor without elements or dimensions
  double got, expected;       ///< there
  int64_t wrong;              ///< elements beyond the tolerance
};

/// Shapes must be equal. The element types may differ: values are compared. A negative `tolerance`
/// means the default.
Comparison compareTensors(const HostTensor &got, const HostTensor &expected, double tolerance);

/// "min -3.81  mean 0.0142  max 4.07  nan 0"
std::string printSummary(const Summary &summary);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_COMPARE_H
