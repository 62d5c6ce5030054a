//===- LocalRanks.h - Ranks of a group on this machine ----------------------------------------===//
//
//   Result<Done> done = runLocalRanks(localRanks(options, 4), [&](weft_group_t *group, weft_error_t *error) {
//     return weft_group_collective(group, &sum, error);
//   });
//
// This process is rank 0; the others are threads of it, or children that end with it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H
#define WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"
#include "weft/group.h"

#include <functional>

namespace weft::cli {

struct LocalRanks {
  std::string transport; ///< "threads" or "shm"
  int32_t world;
  int32_t timeout = 0; ///< in milliseconds; 0: the runtime's
};

/// As --transport and --timeout say.
LocalRanks localRanks(const ParsedOptions &options, int64_t world);

/// What every rank does. Other ranks than 0 cannot reach this process's memory under "shm".
using RankBody = std::function<weft_status_t(weft_group_t *, weft_error_t *)>;

/// Gives all ranks of a group the bytes that rank 0 has; `node` says what for, where one is missing.
weft_status_t tellRanks(weft_group_t *group, const char *node, void *bytes, int64_t count,
                        weft_error_t *error);

/// Runs the body on every rank. Returns when all are gone, with what rank 0 says, or the one that it lost; Ctrl-C is a
/// failure with ExitInterrupted.
Result<Done> runLocalRanks(const LocalRanks &ranks, const RankBody &body);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_LOCALRANKS_H
