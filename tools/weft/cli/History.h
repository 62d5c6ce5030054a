//===- History.h - What ranks did last, as the runtime writes it --------------------------------===//
//
//   Result<RankHistory> history = parseHistory(text);       // of one rank: weft_group_dump
//   Result<std::vector<RankHistory>> all = readHistories("flight");   // of one run, by rank
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_HISTORY_H
#define WEFT_TOOLS_WEFT_CLI_HISTORY_H

#include "tools/weft/cli/Result.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// A collective of one rank. Times are nanoseconds of one clock; endedAt 0: it goes on.
struct PastCollective {
  uint32_t group = 0;
  uint64_t sequence = 0, beganAt = 0, endedAt = 0;
  uint64_t waitsFrom = 0; ///< since when the rank did nothing else, until its end; 0: never
  uint64_t spent = 0;     ///< nanoseconds in which the rank computed nothing for it
  std::string kind, element, node;
  unsigned combiner = 0, isReversed = 0;
  int peer = 0;
  std::array<int64_t, 5> sizes = {}; ///< outer, first, middle, second, inner
  int64_t from = 0, rows = 0;        ///< of every part; 0: all of it
  int piece = 0, pieces = 0;         ///< as weft_collective_t has them
  unsigned row = 0;

  /// "all_reduce after 'encoder.layer.3'", of a piece also ", piece 3 of 8"
  std::string place() const;
  /// "all_reduce (sum) of f32 [1, 8, 1, 1, 4]"
  std::string what() const;
};

/// A group that a rank is in.
struct PastGroup {
  std::string name, title;
  int rank = 0, world = 0;
  uint64_t begun = 0, done = 0;
};

struct RankHistory {
  int rank = 0, world = 0, process = 0;
  uint64_t writtenAt = 0;
  std::string host, run, reason;
  std::map<uint32_t, PastGroup> groups;
  std::vector<PastCollective> collectives; ///< as they began

  const PastCollective *find(uint32_t group, uint64_t sequence) const;
};

/// Bytes that a rank sends to others, as formulas of artifacts count them (weft_traffic_info).
int64_t sentBytes(const PastCollective &collective, const PastGroup &group);
/// The file of a rank in a folder: FOLDER/rank-1.flight.
std::string historyPath(const std::string &folder, int rank);
/// Of one rank. Refuses everything that is not whole; the message says which line.
Result<RankHistory> parseHistory(std::string_view text);
/// Whose files a folder has, in ascending order; at least one.
Result<std::vector<int>> ranksWithHistories(const std::string &folder);
/// All in a folder, in the order of ranks; at least one. Refuses those of several runs.
Result<std::vector<RankHistory>> readHistories(const std::string &folder);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_HISTORY_H
