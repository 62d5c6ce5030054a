// What every device must do, in steps from the simple to the complex.
//
//   for (const device_step &step : device_steps())
//     REQUIRE(run_step(step, kit) == "");
//
// A step stops at the first call that fails where it must not, ends all that it began, and says what the status was: so that a
// device which fails on purpose can be led through all of its calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/device.h"

namespace weft_test {

/// A device and the code for it, which the suite needs: add_numbers of sample_code.c, for its own kind of code.
struct device_kit {
  weft_device_t *device;
  weft_device_code_t code;
  uint64_t position; ///< of the kernel, in code that has positions
  const char *name;  ///< or its name
  uint32_t block_threads =
      0; ///< of a device that computes in blocks: how many threads add one number
};

struct device_step {
  const char *what; ///< "what is copied to the device and back is the same"
  void (*run)(const device_kit &kit);
};

/// In the order in which they build on each other.
const std::vector<device_step> &device_steps();

/// Runs a step: "", or the text of the error ("W0425 no such kernel") that stopped it.
std::string run_step(const device_step &step, const device_kit &kit);

/// Code with add_numbers for devices that run host code, mapped as long as the object lives.
class host_code {
public:
  host_code();
  ~host_code();
  host_code(const host_code &) = delete;
  device_kit kit_for(weft_device_t *device) const;

private:
  void *pages;
  size_t size;
  uint64_t position;
};

} // namespace weft_test
