// A device beside the host that runs the kernels of a module: opened once for all contexts that ask for it.
#pragma once

#include "runtime/src/open/module.h"

/// What a module has on a device.
struct weft_accelerator {
  weft_accelerator *next; ///< of the opened module's
  size_t bytes;           ///< of this allocation
  uint32_t users;
  uint32_t variant; ///< whose code it runs
  int32_t index;    ///< among the devices of its kind
  char name[64];    ///< as it was first asked for
  weft_device_t *device;
  weft_loaded_t *loaded;
  uint8_t *weights;     ///< on the device; NULL when there are none
  const void **kernels; ///< by row of the variant
};

/// One more owner, who ends with weft_module_release, of a view of the module for this device, which loads code and copies weights when nobody has it
/// yet. Fails with NOT_FOUND, UNSUPPORTED, OUT_OF_MEMORY and as the device does.
weft_status_t weft_module_for_device(weft_module_t *module, const char *name,
                                     weft_module_t **out_module, weft_error_t *err);
/// Of a view that ends.
void weft_leave_accelerator(weft_module_t *opened, weft_accelerator *accelerator);
