//===- RankProfile.h - What ranks did during calls, put together at rank 0 --------------------------===//
//
//   weft_status_t status = gatherTraces(group, events, all, error);          // every rank
//   Result<std::vector<ExchangeRow>> rows = exchangeRows(all, warm, rounds); // rank 0
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERBS_RANKPROFILE_H
#define WEFT_TOOLS_WEFT_VERBS_RANKPROFILE_H

#include "tools/weft/cli/History.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Table.h"
#include "weft/group.h"

namespace weft::cli {

struct RankTrace {
  RankHistory history;
  std::vector<weft_trace_event_t> events; ///< kernels of the last call
};

/// Collectives that ranks remember while they are profiled.
constexpr int32_t kProfiledCollectives = 1 << 16;

/// Gives rank 0 what all ranks did, by rank.
weft_status_t gatherTraces(weft_group_t *group, const std::vector<weft_trace_event_t> &own,
                           std::vector<RankTrace> &all, weft_error_t *error);
/// What this rank did last.
Result<RankHistory> ownHistory(const weft_group_t *group);
/// How many collectives of a context's groups this rank has done so far.
int64_t collectivesDone(const weft_group_t *group);

/// The collectives of one of a rank's groups in each of the last `rounds` of its calls, of which `warm` were before; none when some are forgotten.
std::vector<std::vector<PastCollective>> lastCalls(const RankHistory &history, uint32_t group,
                                                   int64_t warm, int64_t rounds);

/// What one rank exchanges along some axes during a call: times are medians over calls.
struct ExchangeRow {
  int rank = 0;
  std::string axes;
  double collectives = 0, bytes = 0, seconds = 0, waiting = 0;
  std::map<int, double> waitedFor; ///< share of the waiting by rank: for the one that came last
};

/// Of the calls behind the first `warm` ones, which were `rounds`.
Result<std::vector<ExchangeRow>> exchangeRows(const std::vector<RankTrace> &all, int64_t warm,
                                              int64_t rounds);
/// One row for every rank and axes.
Table exchangeTable(const std::vector<ExchangeRow> &rows);
/// The same as an array of the open object.
void addExchanges(JsonWriter &json, const std::vector<ExchangeRow> &rows);
/// Of the last one of `calls` calls, those of one rank.
std::vector<PastCollective> lastExchanges(const RankHistory &history, int64_t calls);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERBS_RANKPROFILE_H
