/* A plug-in whose device is the fuzz target's, which the program that loads it has. */
#include "weft/device.h"

const weft_device_kind_v1 *weft_fuzz_answers(void);

__attribute__((visibility("default"))) const weft_device_kind_v1 *weft_device_plugin(void) {
  return weft_fuzz_answers();
}
