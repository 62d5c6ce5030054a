// The plug-in: devices of the kind "emulated", with options of the environment.
#include <cstdio>
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

/// The interpreter is compiled with the instructions of x86-64-v3 (CMakeLists.txt); this file is not.
static bool can_interpret() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

static weft_status_t open(int32_t index, weft_device_t **out_device, weft_error_t *err) {
  *out_device = nullptr;
  if (!can_interpret()) {
    if (err && err->struct_size >= sizeof *err) {
      err->status = WEFT_UNSUPPORTED;
      std::snprintf(err->code, sizeof err->code, "W0703");
      std::snprintf(err->message, sizeof err->message,
                    "the emulated GPU needs a processor with AVX2, FMA and BMI2");
    }
    return WEFT_UNSUPPORTED;
  }
  return weft_emulated_open(nullptr, index, out_device, err);
}

extern "C" __attribute__((visibility("default"))) const weft_device_kind_v1 *
weft_device_plugin(void) {
  static const weft_device_kind_v1 kind = {sizeof kind, 0, "emulated", count, open};
  return &kind;
}
