//===- ExchangeTimes.h - What of an exchange ranks computed meanwhile -------------------------------===//
//
//   std::vector<ExchangeTime> times = exchangeTimes(traces, warm, rounds, link);
//   Table table = exchangeTimesTable(times);   // rank 0's
//
// An exchange goes from when its first piece began until the rank saw that all were there. Exposed is what of that the rank spent in it: waited, copied,
// and added what came. The rest is hidden: the rank computed. Of one that is not cut all is exposed.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERBS_EXCHANGETIMES_H
#define WEFT_TOOLS_WEFT_VERBS_EXCHANGETIMES_H

#include "tools/weft/cli/LinkTime.h"
#include "tools/weft/verbs/RankProfile.h"

#include <optional>

namespace weft::cli {

/// Equal exchanges of one rank during a call: sums of their medians over calls, in seconds.
struct ExchangeTime {
  int rank = 0;
  std::string axes, kind;
  std::vector<std::string> nodes; ///< that they follow, one for each
  int pieces = 0;                 ///< of each; 0: it cannot be cut
  double bytes = 0;               ///< that the rank sends
  double total = 0, exposed = 0;
  double onLink = 0; ///< what they would take on the link alone; 0: there is none

  double hidden() const { return total - exposed; }
  /// The part of its time on the link that does not show.
  std::optional<double> efficiency() const;
};

/// Of the calls behind the first `warm` ones, which were `rounds`, over a link as --link has it, or none; the longest exposed come first.
std::vector<ExchangeTime> exchangeTimes(const std::vector<RankTrace> &all, int64_t warm,
                                        int64_t rounds, const std::string &link);
/// Seconds that this rank spent, since then, in exchanges that could be cut but were not.
double secondsOfWhole(const weft_group_t *group, uint64_t sinceNs);
/// Rank 0's.
Table exchangeTimesTable(const std::vector<ExchangeTime> &times);
/// All, as an array of the open object.
void addExchangeTimes(JsonWriter &json, const std::vector<ExchangeTime> &times);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERBS_EXCHANGETIMES_H
