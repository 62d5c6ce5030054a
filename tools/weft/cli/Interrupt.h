//===- Interrupt.h - Ctrl-C -------------------------------------------------------------------===//
//
//   InterruptGuard guard(context.get());         // from here on Ctrl-C cancels the running call
//   if (interrupted()) return ExitInterrupted;   // and is seen between calls
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_INTERRUPT_H
#define WEFT_TOOLS_WEFT_CLI_INTERRUPT_H

#include "weft/runtime.h"

#include <csignal>

namespace weft::cli {

/// Whether SIGINT or SIGTERM arrived since a guard was made.
bool interrupted();

/// Until a command has something to clean up, they end the process at once.
void endWhenInterrupted();

/// Takes SIGINT and SIGTERM over while it lives, one at a time, and once one of them arrived for
/// good. `context` may be null. Who asks again, because what runs does not look here, ends the process.
class InterruptGuard {
public:
  explicit InterruptGuard(weft_context_t *context);
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;
  ~InterruptGuard();

  /// The call to cancel from now on.
  void watch(weft_context_t *context);

private:
  struct sigaction beforeInt;
  struct sigaction beforeTerm;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_INTERRUPT_H
