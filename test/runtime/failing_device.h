// A device that passes every call on to another one and fails where it is told to.
//
//   failing_device failing(cpu);
//   failing.fail_at = 3;                         // the fourth call that can fail fails, with `status`
//   failing.is_late = true;                      // copies and launches that work fail nevertheless: finish or wait tells
#pragma once

#include <set>
#include <string>

#include "weft/device.h"

namespace weft_test {

struct failing_device {
  weft_device_t base; ///< what tests hand out; the first member
  weft_device_t *inner;
  int calls = 0, fail_at = -1;
  weft_status_t status = WEFT_DEVICE;
  bool is_late = false;
  int live = 0;                ///< memory, code, queues and events that were not ended
  bool has_failed = false;     ///< or will, later
  std::set<std::string> names; ///< of the calls that came

  explicit failing_device(weft_device_t *inner);
  failing_device(const failing_device &) = delete;
  /// Counts a call; whether it is the one that fails.
  bool fails(const char *name);
  weft_status_t fail(weft_error_t *err);
};

} // namespace weft_test
