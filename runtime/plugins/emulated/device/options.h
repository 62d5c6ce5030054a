// Options of emulated devices, as a text says them.
#ifndef WEFT_EMULATED_DEVICE_OPTIONS_H
#define WEFT_EMULATED_DEVICE_OPTIONS_H

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

struct device_options {
  std::string text; ///< what says them
  run_options run;
  int32_t devices = 1;
  int32_t architecture = 80;
  bool is_architecture_specific = false; ///< sm_90a
  uint64_t memory_bytes = uint64_t(64) << 30;
  std::string code; ///< a folder: NAME.ptx in it is the code of kernel NAME, whatever is loaded

  bool is_hopper() const { return architecture >= 90; }
  /// Shared memory that one block, and one multiprocessor, have at most.
  int64_t block_bytes() const { return is_hopper() ? 232448 : 166912; }
  int64_t processor_bytes() const { return is_hopper() ? 233472 : 167936; }
};

/// "seed=7,lazy,blocks=random,sm=90a,devices=4". Throws std::invalid_argument for what it does not know.
device_options parse_options(const std::string &text);

} // namespace weft_emulated

#endif
