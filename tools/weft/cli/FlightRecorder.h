//===- FlightRecorder.h - Keeps what local ranks did last -----------------------------------------===//
//
//   FlightRecorder recorder("flight", 4);                         without records: the runtime's
//   if (Result<Done> done = recorder.prepare(); !done) …          before ranks start
//   weft_group_open(recorder.env(rank), …, &group, …); recorder.opened(rank, group);    each rank
//   recorder.closing(rank, error);  weft_group_release(group);
//   recorder.write()                                              rank 0's process, after a failure
//
// Ranks' groups lie in memory that all processes share, so that rank 0's process writes what a rank
// did that was killed or has stopped.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_FLIGHTRECORDER_H
#define WEFT_TOOLS_WEFT_CLI_FLIGHTRECORDER_H

#include "tools/weft/cli/Result.h"
#include "weft/group.h"

#include <csignal>
#include <memory>
#include <thread>
#include <vector>

namespace weft::cli {

class FlightRecorder {
public:
  /// Without a folder nothing is kept.
  FlightRecorder(std::string folder, int32_t world, int32_t records = 0);
  FlightRecorder(const FlightRecorder &) = delete;
  ~FlightRecorder();

  /// Makes the folder, removes what an earlier run left there, of one rank where the others are not this command's, and takes memory.
  Result<Done> prepare(int32_t own = -1);
  /// From here on SIGUSR1 of this process writes all ranks' files; after other processes have been
  /// started, before threads.
  void watchSignal();

  /// For weft_group_open.
  const weft_env_t *env(int32_t rank) const;
  void opened(int32_t rank, weft_group_t *group);
  /// Before the group is released; `error` NULL: all went well.
  void closing(int32_t rank, const weft_error_t *error);

  /// Writes the files of all ranks that came so far, and says of how many.
  Result<int> write(const char *reason);

private:
  struct Rank;

  Result<bool> writeRank(int32_t rank, const char *reason);

  Rank &of(int32_t rank) const;

  const std::string folder;
  const int32_t world;
  const size_t room;               ///< of a rank
  unsigned char *memory = nullptr; ///< of all ranks, shared
  std::vector<std::unique_ptr<weft_env_t>> envs;
  std::vector<int> ended; ///< files without names, with what ranks did that have closed
  std::thread watcher;
  sigset_t maskBefore;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_FLIGHTRECORDER_H
