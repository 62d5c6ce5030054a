// A stand-in for NVIDIA's driver: libcuda.so.1 with the functions that the plug-in calls, over the emulated GPU. It is as strict as the driver's
// documents are: contexts belong to threads, handles to contexts, work waits until somebody waits for it, and after a fault nothing works.
// WEFT_EMULATED has the options of its GPUs. WEFT_STAND_IN says what fails: "cuMemAlloc_v2:2:999" is the second call of that function, with this
// error, and "version:11040" the driver's version; commas stand between them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/plugins/cuda/driver.h"
#include "weft/device.h"

namespace weft_test {

enum driver_error {
  fine = 0,
  invalid_value = 1,
  not_initialized = 3,
  no_such_device = 101,
  no_context = 201,
  invalid_code = 218,
  invalid_handle = 400,
  not_found = 500,
  illegal_address = 700
};

/// The driver's lock for as long as a call lasts, and the reason why it cannot go on.
struct driver_call {
  explicit driver_call(const char *name, bool needs_context = true);
  std::lock_guard<std::recursive_mutex> held;
  int wrong;
};

cuda_context *current_context();

} // namespace weft_test

/// A GPU's own, the only kind there is here.
struct cuda_context {
  weft_device_t *device = nullptr;
  int users = 0;
  int lost = 0;    ///< the error of everything from then on
  int objects = 0; ///< that were made and not given back
  std::map<uint64_t, size_t> memory;
  std::map<void *, size_t> pinned;
};

struct cuda_stream {
  cuda_context *context;
  weft_queue_t *queue;
  uint64_t given = 0, done = 0;
  std::deque<std::function<void()>> work;

  void give(std::function<void()> piece);
  void run_until(uint64_t count);
};

struct cuda_event {
  cuda_context *context;
  cuda_stream *on = nullptr; ///< NULL: it was not recorded
  uint64_t at = 0;           ///< done when so many pieces of the stream's work are
};

struct cuda_function {
  cuda_context *context;
  const void *kernel;
  size_t parameters;
  int most_shared = 48 << 10;
};

struct cuda_module {
  cuda_context *context;
  weft_loaded_t *loaded;
  std::map<std::string, cuda_function> functions;
};
