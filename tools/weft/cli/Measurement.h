//===- Measurement.h - What commands that measure have in common ------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_MEASUREMENT_H
#define WEFT_TOOLS_WEFT_CLI_MEASUREMENT_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"

#include <vector>

namespace weft::cli {

constexpr int64_t kLeastRounds = 7;

/// How tables are printed, of --format and --json.
Result<std::string> readFormat(const ParsedOptions &options);
/// That --rounds, where it is given, is enough.
Result<Done> checkRounds(const ParsedOptions &options);

/// Value at `share` of the sorted samples, between neighbours.
double quantile(const std::vector<double> &sorted, double share);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_MEASUREMENT_H
