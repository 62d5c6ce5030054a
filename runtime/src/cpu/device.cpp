// The CPU as a device: its memory is the host's, its code is mapped by whoever loads it, and all work is done when a call returns.
#include "weft/device.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/src/base/memory.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"
#include "runtime/src/cpu/cpu_features.h"
#include "runtime/src/cpu/env.h"
#include "runtime/src/cpu/queue.h"

/// A cache line: kernels rely on it.
static const size_t least_alignment = 64;

static const weft_env_t *env_of(const weft_device_t *device) {
  return &((const weft_cpu_device_t *)device)->env;
}

static void close_device(weft_device_t *device) {
  weft_env_t env = *env_of(device);
  weft_free(&env, device, sizeof(weft_cpu_device_t));
}

static weft_status_t find_property(weft_device_t *device, const char *name, int64_t *out_value) {
  static const char feature[] = "feature.", permission[] = "permission.";
  const weft_env_t *env = env_of(device);
  if (strcmp(name, "processors") == 0)
    *out_value = env->parallel ? env->workers : weft_cpus_allowed();
  else if (strcmp(name, "alignment") == 0)
    *out_value = least_alignment;
  else if (strncmp(name, feature, sizeof feature - 1) == 0)
    *out_value = weft_cpu_has(name + sizeof feature - 1);
  else if (strncmp(name, permission, sizeof permission - 1) == 0)
    *out_value = weft_cpu_permits(name + sizeof permission - 1);
  else
    return WEFT_NOT_FOUND;
  return WEFT_OK;
}

extern const weft_device_v1 weft_cpu_calls;

/// Memory of the host, and of every CPU.
static bool is_host(const weft_device_t *device) {
  return !device || device->calls == &weft_cpu_calls;
}

static weft_status_t reach(weft_device_t *, weft_device_t *peer, weft_error_t *err) {
  if (is_host(peer))
    return WEFT_OK;
  return weft_fail(err, WEFT_UNSUPPORTED, "W0425", "the CPU cannot use memory of a '%.40s' device",
                   peer->calls->kind);
}

//===----------------------------------------------------------------------===//
// Memory and code
//===----------------------------------------------------------------------===//

static weft_status_t allocate(weft_device_t *device, uint32_t space, size_t bytes, size_t alignment,
                              void **out_memory, weft_error_t *err) {
  *out_memory = nullptr;
  if (space < WEFT_MEMORY_DEVICE || space > WEFT_MEMORY_SHARED)
    return weft_fail(err, WEFT_INVALID, "W0425", "the CPU has no memory of kind %u", space);
  *out_memory = weft_allocate(env_of(device), bytes,
                              alignment < least_alignment ? least_alignment : alignment);
  if (*out_memory)
    return WEFT_OK;
  char text[64];
  weft_text_t size = weft_text_in(text, sizeof text);
  weft_text_add_bytes(&size, bytes);
  return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for %s", text);
}

static void release(weft_device_t *device, uint32_t, void *memory, size_t bytes) {
  weft_free(env_of(device), memory, bytes);
}

/// Where the loaded code lies.
struct weft_loaded {
  const uint8_t *bytes;
  uint64_t begin, size; ///< of what is executed
};

static weft_status_t load(weft_device_t *device, const weft_device_code_t *given,
                          weft_loaded_t **out_loaded, weft_error_t *err) {
  *out_loaded = nullptr;
  weft_device_code_t code = {};
  if (weft_status_t status = weft_read_sized(given, "code", &code, err))
    return status;
  if (code.kind != WEFT_CODE_HOST || code.code_begin > code.size ||
      code.code_size > code.size - code.code_begin)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0425", "the CPU cannot load this code (kind %u)",
                     code.kind);
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), head = code.code_begin % page;
  uint8_t *first = (uint8_t *)(uintptr_t)code.bytes + (code.code_begin - head);
  if (mprotect(first, code.code_size + head, PROT_READ | PROT_EXEC) != 0)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0509",
                     "cannot be made executable: the system forbids it");
  weft_loaded_t *loaded =
      (weft_loaded_t *)weft_allocate(env_of(device), sizeof *loaded, alignof(weft_loaded_t));
  if (!loaded)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for loaded code");
  *loaded = {(const uint8_t *)code.bytes, code.code_begin, code.code_size};
  *out_loaded = loaded;
  return WEFT_OK;
}

/// The mapping is its owner's, who ends it.
static void unload(weft_device_t *device, weft_loaded_t *loaded) {
  weft_free(env_of(device), loaded, sizeof *loaded);
}

static weft_status_t find(weft_device_t *, weft_loaded_t *loaded, uint64_t position, const char *,
                          const void **out_kernel, weft_error_t *err) {
  *out_kernel = nullptr;
  if (position < loaded->begin || position - loaded->begin >= loaded->size)
    return weft_fail(err, WEFT_NOT_FOUND, "W0425", "there is no code at byte %llu",
                     (unsigned long long)position);
  *out_kernel = loaded->bytes + position;
  return WEFT_OK;
}

//===----------------------------------------------------------------------===//
// Work, which is done when it was given
//===----------------------------------------------------------------------===//

static weft_status_t copy(weft_queue_t *, const weft_copy_t *given, weft_error_t *err) {
  weft_copy_t copy = {};
  if (weft_status_t status = weft_read_sized(given, "copy", &copy, err))
    return status;
  if (!is_host(copy.to_device) || !is_host(copy.from_device))
    return reach(nullptr, is_host(copy.to_device) ? copy.from_device : copy.to_device, err);
  if (copy.bytes < 0)
    return weft_fail(err, WEFT_INVALID, "W0425", "a copy of %lld bytes", (long long)copy.bytes);
  if (copy.bytes)
    memcpy(copy.to, copy.from, (size_t)copy.bytes);
  return WEFT_OK;
}

static weft_status_t finish(weft_queue_t *, weft_error_t *) { return WEFT_OK; }

/// Needs nothing to know that it is done, but an address of its own.
struct weft_event {
  uint8_t nothing;
};

static weft_status_t open_event(weft_device_t *device, weft_event_t **out_event,
                                weft_error_t *err) {
  *out_event = (weft_event_t *)weft_allocate(env_of(device), sizeof **out_event, 16);
  return *out_event ? WEFT_OK
                    : weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for an event");
}

static void close_event(weft_device_t *device, weft_event_t *event) {
  weft_free(env_of(device), event, sizeof *event);
}

static weft_status_t record(weft_queue_t *, weft_event_t *, weft_error_t *) { return WEFT_OK; }

static weft_status_t follow(weft_queue_t *, weft_event_t *, weft_error_t *) { return WEFT_OK; }

static int32_t event_is_done(weft_device_t *, weft_event_t *) { return 1; }

static weft_status_t wait(weft_device_t *, weft_event_t *, weft_error_t *) { return WEFT_OK; }

const weft_device_v1 weft_cpu_calls = {sizeof(weft_device_v1),
                                       0,
                                       "cpu",
                                       &weft_cpu_host_queue,
                                       close_device,
                                       find_property,
                                       reach,
                                       allocate,
                                       release,
                                       load,
                                       unload,
                                       find,
                                       weft_cpu_open_queue,
                                       weft_cpu_close_queue,
                                       copy,
                                       weft_cpu_launch,
                                       finish,
                                       open_event,
                                       close_event,
                                       record,
                                       follow,
                                       event_is_done,
                                       wait,
                                       nullptr,
                                       nullptr,
                                       nullptr};

weft_status_t weft_cpu_open(const weft_env_t *given, weft_device_t **out_device,
                            weft_error_t *err) {
  if (!out_device)
    return weft_fail(err, WEFT_INVALID, "W0401", "out_device is NULL");
  *out_device = nullptr;
  weft_env_t env;
  if (weft_status_t status = weft_read_env(given, &env, err))
    return status;
  weft_cpu_device_t *device =
      (weft_cpu_device_t *)weft_allocate(&env, sizeof *device, alignof(weft_cpu_device_t));
  if (!device)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a device");
  *device = {{&weft_cpu_calls}, env};
  *out_device = &device->base;
  return weft_succeed(err);
}
