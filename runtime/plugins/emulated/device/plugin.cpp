// The plug-in: devices of the kind "emulated", with options of the environment.
#include <cstdlib>

#include "runtime/plugins/emulated/device/options.h"
#include "runtime/plugins/emulated/emulated.h"

static weft_status_t count(int32_t *out_count, weft_error_t *err) {
  const char *text = std::getenv(WEFT_EMULATED_OPTIONS);
  *out_count = 0;
  try {
    *out_count = weft_emulated::parse_options(text ? text : "").devices;
    return WEFT_OK;
  } catch (const std::exception &) { // opening tells what is wrong
    weft_device_t *none;
    return weft_emulated_open(text, 0, &none, err);
  }
}

static weft_status_t open(int32_t index, weft_device_t **out_device, weft_error_t *err) {
  return weft_emulated_open(nullptr, index, out_device, err);
}

extern "C" __attribute__((visibility("default"))) const weft_device_kind_v1 *
weft_device_plugin(void) {
  static const weft_device_kind_v1 kind = {sizeof kind, 0, "emulated", count, open};
  return &kind;
}
