//===- Child.h - Work in a process of its own, which may crash or hang ------------------------===//
//
//   ChildEnd end = runChild([&](int report) { return verb(argc, argv); }, 10, folder, stop);
//   if (end.signal) …
//
// The child is a fork: it has the caller's memory, and starts without loading anything.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_CHILD_H
#define WEFT_TOOLS_WEFT_CLI_CHILD_H

#include <functional>
#include <string>

namespace weft::cli {

/// How it ended. Neither signal nor timedOut nor stopped: it exited with `exitCode`.
struct ChildEnd {
  int exitCode = 0;
  int signal = 0;                         ///< that killed it
  bool timedOut = false, stopped = false; ///< it was killed for the caller
  double seconds = 0;
  std::string said;   ///< what it wrote to stderr; its stdout goes nowhere
  std::string report; ///< what it wrote to the descriptor that `work` gets
};

/// Runs `work` until it returns an exit code, for at most so many seconds, or until `stop` says so.
/// Its temporary files lie in `temporaries`. The caller has no threads. Ctrl-C does not reach it.
ChildEnd runChild(const std::function<int(int report)> &work, double seconds,
                  const std::string &temporaries, const std::function<bool()> &stop);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_CHILD_H
