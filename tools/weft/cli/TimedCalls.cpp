//===- TimedCalls.cpp -------------------------------------------------------------------------===//
#include "tools/weft/cli/TimedCalls.h"
#include "tools/weft/cli/Artifact.h"

#include <chrono>

namespace weft::cli {

Result<double> timeCalls(InterruptGuard &guard, weft_context_t *context, int32_t function,
                         const std::vector<weft_tensor_t> &inputs,
                         std::vector<weft_tensor_t> &outputs, int64_t count) {
  using Clock = std::chrono::steady_clock;
  weft_error_t error = WEFT_ERROR_INIT;
  weft_status_t status = WEFT_OK;
  guard.watch(context);
  Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < count && !status; ++i)
    status = interrupted()
                 ? WEFT_CANCELLED
                 : weft_call_function(context, function, inputs.data(),
                                      static_cast<uint32_t>(inputs.size()), outputs.data(),
                                      static_cast<uint32_t>(outputs.size()), &error);
  double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  guard.watch(nullptr);
  if (status == WEFT_CANCELLED)
    return Failure{ExitInterrupted, "interrupted", {}, {}};
  if (status)
    return failureOf(error);
  return seconds;
}

} // namespace weft::cli
