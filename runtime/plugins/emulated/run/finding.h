// What is wrong with a kernel: it ends the launch.
#ifndef WEFT_EMULATED_RUN_FINDING_H
#define WEFT_EMULATED_RUN_FINDING_H

#include <stdexcept>
#include <string>

namespace weft_emulated {

struct warp;

struct finding : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws a finding that names kernel, line and instruction, block, and the thread, or the warp when lane is -1.
[[noreturn]] void stop(const warp &w, int lane, const std::string &what);

} // namespace weft_emulated

#endif
