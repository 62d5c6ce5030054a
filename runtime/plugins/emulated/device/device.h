// An emulated device behind the table of device.h.
#ifndef WEFT_EMULATED_DEVICE_DEVICE_H
#define WEFT_EMULATED_DEVICE_DEVICE_H

#include <set>

#include "runtime/plugins/emulated/device/options.h"
#include "runtime/plugins/emulated/emulated.h"
#include "runtime/plugins/emulated/run/launch.h"
#include "runtime/plugins/emulated/text/syntax.h"

namespace weft_emulated {

struct device {
  weft_device_t base = {}; ///< first: a weft_device_t is this
  device_options options;
  int32_t index = 0;
  int users = 1; ///< who opened it and has not closed it

  std::mutex lock; ///< over what follows
  memory_map memory;
  std::set<const allocation *> shared; ///< of memory, what peers may use
  std::set<void *> pinned;
  std::vector<device *> peers;
  uint64_t used_bytes = 0;
};

inline device *own(weft_device_t *base) { return reinterpret_cast<device *>(base); }

/// Fills `err` unless it is null, and gives the status.
weft_status_t fail(weft_error_t *err, weft_status_t status, const char *code,
                   const std::string &message);
weft_status_t succeed(weft_error_t *err);

/// Copies what the caller's struct has of T over zeros. False for one that is too short to be any.
template <class T> bool read_sized(const T *given, T *known) {
  uint32_t size = 0;
  if (given)
    std::memcpy(&size, given, sizeof size);
  if (size < 8 || size > 4096)
    return false;
  *known = T();
  std::memcpy(known, given, std::min<size_t>(size, sizeof *known));
  return true;
}

// Memory.
weft_status_t allocate(weft_device_t *, uint32_t space, size_t bytes, size_t alignment, void **out,
                       weft_error_t *err);
void release(weft_device_t *, uint32_t space, void *memory, size_t bytes);
weft_status_t reach(weft_device_t *, weft_device_t *peer, weft_error_t *err);
uint64_t bytes_at(weft_device_t *, const void *memory);
weft_status_t copy(weft_queue_t *, const weft_copy_t *copy, weft_error_t *err);
/// Memory of the device, and of peers what is shared.
memory_map memory_of(device &d);
void add_allocation(device &d, std::shared_ptr<allocation> added, bool is_shared);
void remove_allocation(device &d, uint64_t base);

// Code.
weft_status_t load(weft_device_t *, const weft_device_code_t *code, weft_loaded_t **out,
                   weft_error_t *err);
void unload(weft_device_t *, weft_loaded_t *loaded);
weft_status_t find(weft_device_t *, weft_loaded_t *loaded, uint64_t position, const char *name,
                   const void **out_kernel, weft_error_t *err);

/// A kernel that was found: what a launch names.
struct kernel {
  program code;
  std::mutex lock;
  counters count;
  uint64_t launches = 0, blocks = 0;
};

// Queues: all work is done within the call.
weft_status_t open_queue(weft_device_t *, const weft_queue_options_t *options, weft_queue_t **out,
                         weft_error_t *err);
void close_queue(weft_queue_t *queue);
weft_status_t launch(weft_queue_t *queue, const weft_launch_t *given, weft_error_t *err);
device *device_of(weft_queue_t *queue);

extern const weft_device_v1 calls;

} // namespace weft_emulated

#endif
