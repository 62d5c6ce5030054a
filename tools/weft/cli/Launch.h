//===- Launch.h - Ranks that a launcher started -----------------------------------------------===//
//
//   Result<std::optional<Launch>> launch = readLaunch(getenv);
//   if (*launch) …                                                // this process is one of several
//
// Who started it says so by environment variables: docs/ranks.md has the table.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_LAUNCH_H
#define WEFT_TOOLS_WEFT_CLI_LAUNCH_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"

#include <functional>

namespace weft::cli {

struct Launch {
  std::string launcher; ///< "mpirun", "mpiexec", "torchrun", "srun", or "WEFT_RANK"
  int32_t rank, world;
  int32_t neighbours;     ///< ranks on this machine, with this one
  bool isMpi;             ///< ranks that can use MPI
  std::string rendezvous; ///< of the job, where its ranks are on one machine

  /// "mpirun -n 4 weft run model.weft", of another number of ranks.
  std::string command(int64_t ranks, const std::string &what) const;
};

/// A variable's value, or NULL.
using Environment = std::function<const char *(const char *)>;

/// Nothing when this is the only rank. Fails when launchers contradict each other, or one says what cannot be.
Result<std::optional<Launch>> readLaunch(const Environment &environment);

/// Of this process and command line: nothing where it starts ranks of its own, or where readLaunch fails.
std::optional<Launch> launchOf(const ParsedOptions &options);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_LAUNCH_H
