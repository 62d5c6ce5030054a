// Runs a grid of blocks.
#ifndef WEFT_EMULATED_RUN_LAUNCH_H
#define WEFT_EMULATED_RUN_LAUNCH_H

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

/// What is launched, and where.
struct launch_request {
  const program *code = nullptr;
  std::vector<uint64_t> words; ///< one a parameter
  uint32_t blocks = 1, threads = 1, dynamic_bytes = 0;
  uint32_t processor_bytes =
      0; ///< shared memory of a multiprocessor: how many blocks run at a time
  uint32_t processor_threads = 2048;
  int device = 0;
};

/// Runs all blocks. Throws a finding.
counters run_grid(const launch_request &request, const memory_map &memory,
                  const run_options &options);

} // namespace weft_emulated

#endif
