//===- LocalRanks.h - Ranks of a group --------------------------------------------------------===//
//
//   Result<Done> done = runLocalRanks(localRanks(options, 4), [&](weft_group_t *group, weft_error_t *error) {
//     return weft_group_collective(group, &sum, error);
//   });
//
// This process is rank 0, and the others are threads of it, or children that end with it; or a launcher started all ranks, and this process is
// one of them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H
#define WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H

#include "tools/weft/cli/Launch.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"
#include "tools/weft/link/LinkModel.h"
#include "weft/group.h"

#include <functional>

namespace weft::cli {

struct LocalRanks {
  std::string transport; ///< "threads", "shm" or "mpi"
  int32_t world;
  int32_t timeout = 0;     ///< in milliseconds; 0: the runtime's
  std::string flight = {}; ///< a folder for what ranks did last when they fail; empty: none
  int32_t records = 0;     ///< collectives that a group knows of; 0: the runtime's
  std::optional<Launch> launch = {};  ///< this process's place among ranks that a launcher started
  bool isChosen = false;              ///< the transport was asked for
  std::optional<LinkSpeed> link = {}; ///< that they shall seem to have between them

  int32_t onThisMachine() const { return launch ? launch->neighbours : world; }
  /// Whether results are another process's to show.
  bool isElsewhere() const { return launch && launch->rank != 0; }
};

/// CPUs that this process may use.
int64_t cpusOfProcess();
/// As --transport, --timeout, --flight, --link and the launcher say.
LocalRanks localRanks(const ParsedOptions &options, int64_t world);
/// Refuses a --link that is none, or that ranks of this transport cannot have.
Result<Done> checkLink(const ParsedOptions &options);
/// How many ranks --ranks or a launcher says that there are; 0: neither does.
int64_t ranksAsked(const ParsedOptions &options);

/// What every rank does. Other ranks than 0 cannot reach this process's memory under "shm".
using RankBody = std::function<weft_status_t(weft_group_t *, weft_error_t *)>;

/// The failure as what a rank's body says.
weft_status_t toError(const Failure &failure, weft_error_t *error);
/// Gives all ranks of a group the bytes that rank 0 has; `node` says what for, where one is missing.
weft_status_t tellRanks(weft_group_t *group, const char *node, void *bytes, int64_t count,
                        weft_error_t *error);

/// Runs the body on every rank, or on this one of a launcher. Returns when all that it started are gone, with what rank 0 says, or
/// the one that it lost; Ctrl-C is a failure with ExitInterrupted.
Result<Done> runLocalRanks(const LocalRanks &ranks, const RankBody &body);

/// The same where rank 0 leads: it says why it fails in the command's words, and ends the others.
Result<Done> runLedRanks(const LocalRanks &ranks,
                         const std::function<Result<Done>(weft_group_t *)> &lead,
                         const RankBody &follow);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H
