//===- Timing.h - Programs timed in turns -----------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_TIMING_H
#define WEFT_COMPILER_QUANTIZE_TIMING_H

#include "compiler/quantize/Session.h"

namespace weft {

/// Seconds for all timed calls together.
struct Timed {
  double base, other;
  double more; ///< that the other's kernels take, where they are others; calls whose turns say
               ///< nothing certain add nothing
};

/// Both programs take turns, so what disturbs the machine disturbs both; medians over turns of the
/// fastest of some calls.
Result<Timed> timeInTurns(Session &base, Session &other, const std::vector<BoundCall> &calls,
                          const QuantizeOptions &options);

/// The calls that time is measured with: one of the middle size, and the largest.
Result<std::vector<size_t>> timedCalls(const Calls &calls);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_TIMING_H
