//===- Measurement.cpp ------------------------------------------------------------------------===//

#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/Console.h"

namespace weft::cli {

Result<std::string> readFormat(const ParsedOptions &options) {
  std::string format = options.value("format", options.json() ? "json" : "table");
  if (options.json() && format != "json")
    return Failure{
        ExitWrongUsage, "'--json' and '--format " + format + "' contradict each other", {}, {}};
  return format;
}

Result<Done> checkRounds(const ParsedOptions &options) {
  if (options.has("rounds") && options.number("rounds", 0) < kLeastRounds)
    return Failure{
        ExitWrongUsage, "'--rounds' must be at least " + std::to_string(kLeastRounds), {}, {}};
  return Done{};
}

double quantile(const std::vector<double> &sorted, double share) {
  double position = share * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(position);
  double part = position - static_cast<double>(below);
  return sorted[below] +
         (below + 1 < sorted.size() ? part * (sorted[below + 1] - sorted[below]) : 0);
}

} // namespace weft::cli
