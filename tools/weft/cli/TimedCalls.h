//===- TimedCalls.h - Calls of an artifact's function, which Ctrl-C ends ---------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_TIMEDCALLS_H
#define WEFT_TOOLS_WEFT_CLI_TIMEDCALLS_H

#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Result.h"

#include <vector>

namespace weft::cli {

/// Seconds of `count` calls together. The guard watches them only, and an interruption is a failure with ExitInterrupted.
Result<double> timeCalls(InterruptGuard &guard, weft_context_t *context, int32_t function,
                         const std::vector<weft_tensor_t> &inputs,
                         std::vector<weft_tensor_t> &outputs, int64_t count = 1);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_TIMEDCALLS_H
