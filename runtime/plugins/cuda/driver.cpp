#include "runtime/plugins/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include "runtime/src/base/status.h"

/// The first whose PTX is of the version that kernels are written in.
static const int least_version = 12000;

namespace {
struct found_t {
  cuda_driver_t driver;
  const char *missing; ///< a function of the library; NULL: it has all
  const char *reason;  ///< why the library was not opened
  cuda_result_t started;
  int version;
};
} // namespace

static found_t found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_driver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    found.reason = "libcuda.so.1 was not found";
    return;
  }
#define F(member, name, parameters)                                                                \
  found.driver.member = (cuda_result_t(*) parameters)dlsym(library, name);                         \
  if (!found.driver.member)                                                                        \
    found.missing = name;
  CUDA_FUNCTIONS(F)
#undef F
  if (found.missing)
    return;
  found.started = found.driver.init(0);
  if (!found.started)
    found.started = found.driver.version(&found.version);
}

weft_status_t weft_cuda_driver(const cuda_driver_t **out_driver, weft_error_t *err) {
  pthread_once(&once, find_driver);
  if (found.reason)
    return weft_fail(err, WEFT_DEVICE, "W0703", "there is no NVIDIA driver: %s", found.reason);
  if (found.missing)
    return weft_fail(err, WEFT_DEVICE, "W0703", "the NVIDIA driver is too old: it has no %s",
                     found.missing);
  if (found.started == CUDA_NO_DEVICE)
    return weft_fail(err, WEFT_DEVICE, "W0703", "the NVIDIA driver finds no GPU");
  if (found.started)
    return weft_cuda_fail(&found.driver, found.started, "the NVIDIA driver does not start", err);
  if (found.version < least_version)
    return weft_fail(err, WEFT_DEVICE, "W0703",
                     "the NVIDIA driver is of CUDA %d.%d, but %d.0 or newer is needed",
                     found.version / 1000, found.version % 1000 / 10, least_version / 1000);
  *out_driver = &found.driver;
  return WEFT_OK;
}

weft_status_t weft_cuda_fail(const cuda_driver_t *driver, cuda_result_t result, const char *what,
                             weft_error_t *err) {
  if (result == CUDA_OUT_OF_MEMORY)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "%s: no memory on the GPU", what);
  const char *text = nullptr;
  if (driver->error_text(result, &text) || !text)
    text = "no such error is known";
  weft_fail(err, WEFT_DEVICE, "W0703", "%s: %s (CUDA error %d)", what, text, result);
  // An H200 answered everything with the error of the first fault until the process ended, also to a new context.
  bool is_lost = result >= CUDA_FIRST_FAULT && result <= CUDA_LAST_FAULT &&
                 result != CUDA_PEER_ALREADY && result != CUDA_PEER_ALREADY + 1;
  if (is_lost)
    weft_set_hint(err, "the GPU does nothing more for this process; others can go on");
  return WEFT_DEVICE;
}
