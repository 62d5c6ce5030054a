// NVIDIA GPUs as devices, by the driver alone. Queues are streams, events are events; kernels are loaded from PTX, which the driver compiles, or
// from machine code.
#include "weft/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plugins/architecture.h"
#include "runtime/plugins/cuda/driver.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/base/status.h"

namespace {
struct gpu_t {
  weft_device_t base;
  const cuda_driver_t *driver;
  cuda_device_t device;
  int32_t index;          ///< of the device, as the driver counts
  cuda_context_t context; ///< the process's, which all users of the GPU share
  int64_t architecture;   ///< 90 for sm_90
};

/// The GPU's context is the thread's while this lives; where that fails, what is asked then fails, and the thread keeps the one that it has.
class inside {
public:
  explicit inside(const gpu_t *gpu)
      : driver(gpu->driver), has_entered(!driver->enter(gpu->context)) {}
  ~inside() {
    cuda_context_t ours;
    if (has_entered)
      driver->leave(&ours);
  }

private:
  const cuda_driver_t *driver;
  bool has_entered;
};
} // namespace

struct weft_queue {
  gpu_t *gpu;
  cuda_stream_t stream;
  const uint32_t *stop;
  bool is_callers; ///< the stream
};

static gpu_t *gpu_of(weft_device_t *device) { return (gpu_t *)device; }

static weft_status_t check(const gpu_t *gpu, cuda_result_t result, const char *what,
                           weft_error_t *err) {
  return result ? weft_cuda_fail(gpu->driver, result, what, err) : WEFT_OK;
}

static void close_device(weft_device_t *device) {
  gpu_t *gpu = gpu_of(device);
  gpu->driver->give_back(gpu->device);
  free(gpu);
}

static weft_status_t find_property(weft_device_t *device, const char *name, int64_t *out_value) {
  static const char feature[] = "feature.";
  gpu_t *gpu = gpu_of(device);
  int value = 0;
  if (strncmp(name, feature, sizeof feature - 1) == 0)
    *out_value = weft_gpu_runs(gpu->architecture, true, name + sizeof feature - 1);
  else if (strcmp(name, "alignment") == 0)
    *out_value = 256;
  else if (strcmp(name, "sm") == 0)
    *out_value = gpu->architecture;
  else if (strcmp(name, "processors") == 0 &&
           !gpu->driver->attribute(&value, CUDA_PROCESSORS, gpu->device))
    *out_value = value;
  else if (strcmp(name, "block_bytes") == 0 &&
           !gpu->driver->attribute(&value, CUDA_SHARED_BYTES, gpu->device))
    *out_value = value;
  else
    return WEFT_NOT_FOUND;
  return WEFT_OK;
}

extern const weft_device_v1 weft_cuda_calls;

static bool is_gpu(const weft_device_t *device) {
  return device && device->calls == &weft_cuda_calls;
}

static weft_status_t reach(weft_device_t *device, weft_device_t *peer, weft_error_t *err) {
  gpu_t *gpu = gpu_of(device);
  if (device == peer)
    return WEFT_OK;
  int can = 0;
  if (!is_gpu(peer) || gpu->driver->can_reach(&can, gpu->device, gpu_of(peer)->device) || !can)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0425",
                     "the GPU cannot use memory of a '%.40s' device", peer->calls->kind);
  inside context(gpu);
  cuda_result_t result = gpu->driver->reach(gpu_of(peer)->context, 0);
  return result == CUDA_PEER_ALREADY ? WEFT_OK : check(gpu, result, "reaching another GPU", err);
}

//===----------------------------------------------------------------------===//
// Memory and code
//===----------------------------------------------------------------------===//

/// Memory at a multiple of `alignment`. The driver promises 256 bytes, and gives more to large blocks.
static cuda_result_t allocate_aligned(const cuda_driver_t *driver, size_t bytes, size_t alignment,
                                      cuda_address_t *out) {
  cuda_result_t result = driver->allocate(out, bytes);
  if (result || *out % alignment == 0)
    return result;
  driver->release(*out);
  *out = 0;
  size_t whole;
  if (__builtin_add_overflow(bytes, alignment, &whole))
    return CUDA_OUT_OF_MEMORY;
  result = driver->allocate(out, whole);
  *out = (*out + alignment - 1) & ~(cuda_address_t)(alignment - 1);
  return result;
}

/// Pinned memory begins at a page.
static weft_status_t allocate(weft_device_t *device, uint32_t space, size_t bytes, size_t alignment,
                              void **out_memory, weft_error_t *err) {
  *out_memory = nullptr;
  gpu_t *gpu = gpu_of(device);
  if (space < WEFT_MEMORY_DEVICE || space > WEFT_MEMORY_SHARED)
    return weft_fail(err, WEFT_INVALID, "W0425", "a GPU has no memory of kind %u", space);
  char what[64];
  snprintf(what, sizeof what, "%zu bytes", bytes);
  inside context(gpu);
  if (space == WEFT_MEMORY_PINNED)
    return check(gpu, gpu->driver->allocate_pinned(out_memory, bytes, CUDA_HOST_PORTABLE), what,
                 err);
  cuda_address_t address = 0;
  weft_status_t status =
      check(gpu, allocate_aligned(gpu->driver, bytes, alignment, &address), what, err);
  *out_memory = status ? nullptr : (void *)(uintptr_t)address;
  return status;
}

static void release(weft_device_t *device, uint32_t space, void *memory, size_t) {
  if (!memory)
    return;
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  if (space == WEFT_MEMORY_PINNED) {
    gpu->driver->release_pinned(memory);
    return;
  }
  cuda_address_t address = (cuda_address_t)(uintptr_t)memory, begin;
  size_t bytes;
  gpu->driver->release(gpu->driver->range(&begin, &bytes, address) ? address : begin);
}

/// Managed memory is the host's, too, and is taken for that.
static uint64_t bytes_at(weft_device_t *device, const void *memory) {
  gpu_t *gpu = gpu_of(device);
  const cuda_driver_t *driver = gpu->driver;
  cuda_address_t address = (cuda_address_t)(uintptr_t)memory, begin;
  unsigned place = 0, is_managed = 0;
  int ordinal = -1;
  size_t bytes;
  inside context(gpu);
  // Of memory that it has not allocated the driver knows nothing.
  if (driver->pointer(&place, CUDA_POINTER_PLACE, address) || place != CUDA_PLACE_DEVICE ||
      driver->pointer(&is_managed, CUDA_POINTER_MANAGED, address) || is_managed ||
      driver->pointer(&ordinal, CUDA_POINTER_DEVICE, address) || ordinal != gpu->index ||
      driver->range(&begin, &bytes, address))
    return 0;
  return bytes - (address - begin);
}

static weft_status_t load(weft_device_t *device, const weft_device_code_t *given,
                          weft_loaded_t **out_loaded, weft_error_t *err) {
  *out_loaded = nullptr;
  gpu_t *gpu = gpu_of(device);
  weft_device_code_t code = {};
  if (weft_status_t status = weft_read_sized(given, "code", &code, err))
    return status;
  if (code.kind != WEFT_CODE_PTX && code.kind != WEFT_CODE_CUBIN)
    return weft_fail(err, WEFT_UNSUPPORTED, "W0425", "a GPU cannot load this code (kind %u)",
                     code.kind);
  char log[256] = "";
  int options[] = {CUDA_JIT_LOG, CUDA_JIT_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  cuda_module_t module = nullptr;
  inside context(gpu);
  cuda_result_t result = gpu->driver->load(&module, code.bytes, 2, options, values);
  *out_loaded = (weft_loaded_t *)module;
  if (!result)
    return WEFT_OK;
  log[strcspn(log, "\n")] = 0;
  char what[320];
  snprintf(what, sizeof what, "the GPU's code cannot be loaded%s%s", *log ? ": " : "", log);
  weft_status_t status = weft_cuda_fail(gpu->driver, result, what, err);
  bool is_code = result == CUDA_BAD_CODE || result == CUDA_NO_CODE || result == CUDA_NEW_CODE;
  if (!is_code)
    return status;
  if (err)
    err->status = WEFT_UNSUPPORTED;
  if (result != CUDA_BAD_CODE)
    weft_set_hint(err, "a newer driver may take it, or code for an older GPU: 'weft targets'");
  return WEFT_UNSUPPORTED;
}

static void unload(weft_device_t *device, weft_loaded_t *loaded) {
  if (!loaded)
    return;
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  gpu->driver->unload((cuda_module_t)loaded);
}

static weft_status_t find(weft_device_t *device, weft_loaded_t *loaded, uint64_t, const char *name,
                          const void **out_kernel, weft_error_t *err) {
  gpu_t *gpu = gpu_of(device);
  cuda_function_t function = nullptr;
  inside context(gpu);
  cuda_result_t result = gpu->driver->function(&function, (cuda_module_t)loaded, name);
  *out_kernel = result ? nullptr : function;
  if (!result)
    return WEFT_OK;
  return weft_fail(err, WEFT_NOT_FOUND, "W0425", "the GPU's code has no kernel '%.100s'", name);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static weft_status_t open_queue(weft_device_t *device, const weft_queue_options_t *given,
                                weft_queue_t **out_queue, weft_error_t *err) {
  *out_queue = nullptr;
  gpu_t *gpu = gpu_of(device);
  weft_queue_options_t options = {};
  if (given)
    if (weft_status_t status = weft_read_sized(given, "options", &options, err))
      return status;
  if (options.workers < 0)
    return weft_fail(err, WEFT_INVALID, "W0401", "queue.workers is %d", options.workers);
  weft_queue_t *queue = (weft_queue_t *)malloc(sizeof *queue);
  if (!queue)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a queue");
  *queue = {gpu, (cuda_stream_t)options.stream, options.stop, options.stream != nullptr};
  *out_queue = queue;
  if (queue->is_callers)
    return WEFT_OK;
  inside context(gpu);
  weft_status_t status =
      check(gpu, gpu->driver->open_stream(&queue->stream, CUDA_STREAM_ALONE), "a queue", err);
  if (status) {
    free(queue);
    *out_queue = nullptr;
  }
  return status;
}

static weft_status_t finish(weft_queue_t *queue, weft_error_t *err) {
  inside context(queue->gpu);
  return check(queue->gpu, queue->gpu->driver->finish(queue->stream), "work of the GPU", err);
}

static void close_queue(weft_queue_t *queue) {
  if (!queue)
    return;
  finish(queue, nullptr);
  if (!queue->is_callers) {
    inside context(queue->gpu);
    queue->gpu->driver->close_stream(queue->stream);
  }
  free(queue);
}

static weft_status_t copy(weft_queue_t *queue, const weft_copy_t *given, weft_error_t *err) {
  weft_copy_t copy = {};
  if (weft_status_t status = weft_read_sized(given, "copy", &copy, err))
    return status;
  gpu_t *gpu = queue->gpu;
  const cuda_driver_t *driver = gpu->driver;
  bool to_gpu = is_gpu(copy.to_device), from_gpu = is_gpu(copy.from_device);
  if (copy.bytes < 0 || (!to_gpu && !from_gpu))
    return weft_fail(err, WEFT_INVALID, "W0425", "a copy of %lld bytes %s", (long long)copy.bytes,
                     to_gpu || from_gpu ? "" : "that no GPU has part in");
  if (!copy.bytes)
    return WEFT_OK;
  cuda_address_t to = (cuda_address_t)(uintptr_t)copy.to,
                 from = (cuda_address_t)(uintptr_t)copy.from;
  size_t bytes = (size_t)copy.bytes;
  inside context(gpu);
  cuda_result_t result =
      !from_gpu ? driver->to_device(to, copy.from, bytes, queue->stream)
      : !to_gpu ? driver->from_device(copy.to, from, bytes, queue->stream)
      : copy.to_device == copy.from_device
          ? driver->within(to, from, bytes, queue->stream)
          : driver->between(to, gpu_of(copy.to_device)->context, from,
                            gpu_of(copy.from_device)->context, bytes, queue->stream);
  return check(gpu, result, "a copy", err);
}

static weft_status_t launch(weft_queue_t *queue, const weft_launch_t *given, weft_error_t *err) {
  weft_launch_t launch = {};
  if (weft_status_t status = weft_read_sized(given, "launch", &launch, err))
    return status;
  if (queue->stop && (__atomic_load_n(queue->stop, __ATOMIC_RELAXED) & 1))
    return weft_fail(err, WEFT_CANCELLED, "W0432", "the call was cancelled");
  if (launch.units <= 0)
    return WEFT_OK;
  enum { MOST_WORDS = 512 };
  if (launch.units > INT32_MAX || launch.word_count > MOST_WORDS || !launch.block_threads)
    return weft_fail(err, WEFT_INVALID, "W0425",
                     "%lld blocks of %u threads with %u words cannot be launched",
                     (long long)launch.units, launch.block_threads, launch.word_count);
  static const uint64_t nothing[2] = {};
  void *parameters[MOST_WORDS]; // the driver reads as many as the kernel has, which may be more
  for (uint32_t i = 0; i < MOST_WORDS; ++i)
    parameters[i] = (void *)(i < launch.word_count ? &launch.words[i] : nothing);
  gpu_t *gpu = queue->gpu;
  cuda_function_t kernel = (cuda_function_t)launch.kernel;
  inside context(gpu);
  cuda_result_t result = 0;
  if (launch
          .block_bytes) // with what the code declares it may be more than 48 KiB, which must be said
    result = gpu->driver->set_function(kernel, CUDA_FUNCTION_SHARED, (int)launch.block_bytes);
  if (!result)
    result = gpu->driver->launch(kernel, (unsigned)launch.units, 1, 1, launch.block_threads, 1, 1,
                                 launch.block_bytes, queue->stream, parameters, nullptr);
  if (result != CUDA_INVALID)
    return check(gpu, result, "a launch", err);
  return weft_fail(err, WEFT_INVALID, "W0425",
                   "%lld blocks of %u threads with %u bytes that they share cannot be launched",
                   (long long)launch.units, launch.block_threads, launch.block_bytes);
}

static weft_status_t open_event(weft_device_t *device, weft_event_t **out_event,
                                weft_error_t *err) {
  gpu_t *gpu = gpu_of(device);
  cuda_event_t event = nullptr;
  inside context(gpu);
  weft_status_t status =
      check(gpu, gpu->driver->open_event(&event, CUDA_EVENT_TIMED), "an event", err);
  *out_event = (weft_event_t *)event;
  return status;
}

static void close_event(weft_device_t *device, weft_event_t *event) {
  if (!event)
    return;
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  gpu->driver->close_event((cuda_event_t)event);
}

static weft_status_t record(weft_queue_t *queue, weft_event_t *event, weft_error_t *err) {
  inside context(queue->gpu);
  return check(queue->gpu, queue->gpu->driver->record((cuda_event_t)event, queue->stream),
               "recording an event", err);
}

static weft_status_t follow(weft_queue_t *queue, weft_event_t *event, weft_error_t *err) {
  inside context(queue->gpu);
  return check(queue->gpu, queue->gpu->driver->follow(queue->stream, (cuda_event_t)event, 0),
               "waiting for an event", err);
}

static int32_t event_is_done(weft_device_t *device, weft_event_t *event) {
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  return gpu->driver->is_done((cuda_event_t)event) != CUDA_NOT_READY;
}

static weft_status_t wait(weft_device_t *device, weft_event_t *event, weft_error_t *err) {
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  return check(gpu, gpu->driver->wait((cuda_event_t)event), "work of the GPU", err);
}

/// The driver counts in milliseconds, by half microseconds.
static weft_status_t elapsed(weft_device_t *device, weft_event_t *begin, weft_event_t *end,
                             uint64_t *out_ns, weft_error_t *err) {
  gpu_t *gpu = gpu_of(device);
  inside context(gpu);
  float milliseconds = 0;
  weft_status_t status =
      check(gpu, gpu->driver->elapsed(&milliseconds, (cuda_event_t)begin, (cuda_event_t)end),
            "time", err);
  *out_ns = (uint64_t)(milliseconds * 1e6);
  return status;
}

const weft_device_v1 weft_cuda_calls = {sizeof(weft_device_v1),
                                        0,
                                        "cuda",
                                        nullptr,
                                        close_device,
                                        find_property,
                                        reach,
                                        allocate,
                                        release,
                                        load,
                                        unload,
                                        find,
                                        open_queue,
                                        close_queue,
                                        copy,
                                        launch,
                                        finish,
                                        open_event,
                                        close_event,
                                        record,
                                        follow,
                                        event_is_done,
                                        wait,
                                        nullptr,
                                        bytes_at,
                                        elapsed};

//===----------------------------------------------------------------------===//
// The plug-in
//===----------------------------------------------------------------------===//

static weft_status_t count_devices(int32_t *out_count, weft_error_t *err) {
  const cuda_driver_t *driver;
  if (weft_status_t status = weft_cuda_driver(&driver, err))
    return status;
  int count = 0;
  cuda_result_t result = driver->count(&count);
  *out_count = count;
  return result ? weft_cuda_fail(driver, result, "counting GPUs", err) : WEFT_OK;
}

static weft_status_t open_gpu(gpu_t *gpu, int32_t index, weft_error_t *err) {
  const cuda_driver_t *driver = gpu->driver;
  int major = 0, minor = 0;
  cuda_result_t result = driver->get(&gpu->device, index);
  if (!result)
    result = driver->attribute(&major, CUDA_MAJOR, gpu->device);
  if (!result)
    result = driver->attribute(&minor, CUDA_MINOR, gpu->device);
  if (!result)
    result = driver->retain(&gpu->context, gpu->device);
  gpu->architecture = 10 * major + minor;
  return check(gpu, result, "opening the GPU", err);
}

static weft_status_t open_device(int32_t index, weft_device_t **out_device, weft_error_t *err) {
  *out_device = nullptr;
  int32_t count;
  if (weft_status_t status = count_devices(&count, err))
    return status;
  if (index >= count)
    return weft_fail(err, WEFT_NOT_FOUND, "W0701", "there is no device 'cuda:%d': %d %s here",
                     index, count, count == 1 ? "is" : "are");
  gpu_t *gpu = (gpu_t *)calloc(1, sizeof *gpu);
  if (!gpu)
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a device");
  gpu->base.calls = &weft_cuda_calls;
  gpu->index = index;
  weft_status_t status = weft_cuda_driver(&gpu->driver, err);
  if (!status)
    status = open_gpu(gpu, index, err);
  if (status)
    free(gpu);
  else
    *out_device = &gpu->base;
  return status;
}

static const weft_device_kind_v1 kind = {sizeof kind, 0, "cuda", count_devices, open_device};

extern "C" __attribute__((visibility("default"))) const weft_device_kind_v1 *
weft_device_plugin(void) {
  return &kind;
}
