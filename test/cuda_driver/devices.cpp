// Devices, contexts, memory and what is to fail.
#include "test/cuda_driver/stand_in.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "runtime/plugins/emulated/emulated.h"

using namespace weft_test;

namespace {

constexpr int most_devices = 8;
std::recursive_mutex lock;
cuda_context contexts[most_devices];
bool is_initialized = false;
std::map<std::string, int> calls;
thread_local std::vector<cuda_context *> entered;

/// What WEFT_STAND_IN says of this call of the function, or of its version.
int planned(const std::string &name, int call, int otherwise) {
  const char *text = std::getenv("WEFT_STAND_IN");
  std::istringstream words(text ? text : "");
  for (std::string each; std::getline(words, each, ',');) {
    size_t first = each.find(':'), last = each.rfind(':');
    bool is_it = each.substr(0, first) == name && first != each.npos;
    if (is_it && (first == last || std::atoi(each.c_str() + first + 1) == call))
      return std::atoi(each.c_str() + last + 1);
  }
  return otherwise;
}

} // namespace

namespace weft_test {

cuda_context *current_context() { return entered.empty() ? nullptr : entered.back(); }

driver_call::driver_call(const char *name, bool needs_context) : held(lock) {
  wrong = planned(name, ++calls[name], fine);
  if (wrong || std::string(name) == "cuInit")
    return;
  cuda_context *context = current_context();
  if (!is_initialized)
    wrong = not_initialized;
  else if (needs_context)
    wrong = !context || !context->users ? int(no_context) : context->lost;
}

} // namespace weft_test

#define BEGIN(...)                                                                                 \
  driver_call call(__VA_ARGS__);                                                                   \
  if (call.wrong)                                                                                  \
  return call.wrong

#define DRIVER extern "C" __attribute__((visibility("default"))) int

/// Forgets how often functions were called: the next call is the first.
extern "C" __attribute__((visibility("default"))) void weft_stand_in_restart() {
  std::lock_guard<std::recursive_mutex> held(lock);
  calls.clear();
}

DRIVER cuInit(unsigned flags) {
  BEGIN("cuInit", false);
  is_initialized = true;
  return flags ? invalid_value : fine;
}

DRIVER cuDriverGetVersion(int *out) {
  *out = planned("version", 0, 12000);
  return fine;
}

DRIVER cuGetErrorString(int error, const char **out) {
  static const std::map<int, const char *> texts = {
      {invalid_value, "invalid argument"},
      {CUDA_OUT_OF_MEMORY, "out of memory"},
      {no_context, "invalid device context"},
      {invalid_code, "a PTX JIT compilation failed"},
      {invalid_handle, "invalid resource handle"},
      {not_found, "named symbol not found"},
      {illegal_address, "an illegal memory access was encountered"},
      {999, "unknown error"}};
  auto found = texts.find(error);
  *out = found == texts.end() ? nullptr : found->second;
  return *out ? fine : invalid_value;
}

DRIVER cuDeviceGetCount(int *out) {
  BEGIN("cuDeviceGetCount", false);
  weft_device_t *device;
  for (*out = 0; *out < most_devices; ++*out) {
    if (weft_emulated_open(nullptr, *out, &device, nullptr))
      break;
    device->calls->close(device);
  }
  return fine;
}

DRIVER cuDeviceGet(int *out, int index) {
  BEGIN("cuDeviceGet", false);
  *out = index; // a handle is its index
  return index < 0 || index >= most_devices ? no_such_device : fine;
}

DRIVER cuDeviceGetAttribute(int *out, int attribute, int index) {
  BEGIN("cuDeviceGetAttribute", false);
  weft_device_t *device;
  if (weft_emulated_open(nullptr, index, &device, nullptr))
    return no_such_device;
  const char *name = attribute == CUDA_SHARED_BYTES ? "block_bytes"
                     : attribute == CUDA_PROCESSORS ? "processors"
                                                    : "sm";
  int64_t value = 0;
  device->calls->property(device, name, &value);
  device->calls->close(device);
  *out = int(attribute == CUDA_MAJOR ? value / 10 : attribute == CUDA_MINOR ? value % 10 : value);
  return fine;
}

DRIVER cuDevicePrimaryCtxRetain(cuda_context **out, int index) {
  BEGIN("cuDevicePrimaryCtxRetain", false);
  cuda_context &context = contexts[index];
  if (context.lost)
    return context.lost; // for the rest of the process
  if (!context.users && weft_emulated_open(nullptr, index, &context.device, nullptr))
    return no_such_device;
  ++context.users;
  *out = &context;
  return fine;
}

DRIVER cuDevicePrimaryCtxRelease_v2(int index) {
  BEGIN("cuDevicePrimaryCtxRelease_v2", false);
  cuda_context &context = contexts[index];
  if (!context.users)
    return no_context;
  if (--context.users)
    return fine;
  if (!context.lost && context.objects) {
    std::fprintf(stderr, "stand-in driver: %d objects were not given back\n", context.objects);
    std::abort();
  }
  if (!context.lost)
    context.device->calls->close(context.device);
  return fine;
}

DRIVER cuCtxPushCurrent_v2(cuda_context *context) {
  BEGIN("cuCtxPushCurrent_v2", false);
  entered.push_back(context);
  return context ? fine : invalid_value;
}

DRIVER cuCtxPopCurrent_v2(cuda_context **out) {
  BEGIN("cuCtxPopCurrent_v2", false);
  if (entered.empty())
    return no_context;
  *out = entered.back();
  entered.pop_back();
  return fine;
}

DRIVER cuDeviceCanAccessPeer(int *out, int, int) {
  BEGIN("cuDeviceCanAccessPeer", false);
  *out = 1;
  return fine;
}

DRIVER cuCtxEnablePeerAccess(cuda_context *peer, unsigned) {
  BEGIN("cuCtxEnablePeerAccess");
  weft_device_t *device = current_context()->device;
  return device->calls->reach(device, peer->device, nullptr) ? 217 : fine;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DRIVER cuMemAlloc_v2(uint64_t *out, size_t bytes) {
  BEGIN("cuMemAlloc_v2");
  cuda_context *context = current_context();
  void *memory;
  if (!bytes)
    return invalid_value;
  if (context->device->calls->allocate(context->device, WEFT_MEMORY_SHARED, bytes, 256, &memory,
                                       nullptr))
    return CUDA_OUT_OF_MEMORY;
  *out = uint64_t(memory);
  context->memory[*out] = bytes;
  ++context->objects;
  return fine;
}

DRIVER cuMemFree_v2(uint64_t address) {
  BEGIN("cuMemFree_v2");
  cuda_context *context = current_context();
  auto found = context->memory.find(address);
  if (found == context->memory.end())
    return invalid_value;
  context->device->calls->release(context->device, WEFT_MEMORY_SHARED, (void *)address,
                                  found->second);
  context->memory.erase(found);
  --context->objects;
  return fine;
}

DRIVER cuMemHostAlloc(void **out, size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc");
  cuda_context *context = current_context();
  *out = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*out)
    return CUDA_OUT_OF_MEMORY;
  context->pinned[*out] = bytes;
  ++context->objects;
  return fine;
}

DRIVER cuMemFreeHost(void *memory) {
  BEGIN("cuMemFreeHost");
  cuda_context *context = current_context();
  if (!context->pinned.erase(memory))
    return invalid_value;
  std::free(memory);
  --context->objects;
  return fine;
}

/// The allocation that an address lies in, of any GPU.
static bool find_memory(uint64_t address, int *out_index, uint64_t *out_begin, size_t *out_bytes) {
  for (int i = 0; i < most_devices; ++i) {
    auto behind = contexts[i].memory.upper_bound(address);
    if (behind == contexts[i].memory.begin())
      continue;
    auto [begin, bytes] = *--behind;
    if (address - begin < bytes) {
      *out_index = i, *out_begin = begin, *out_bytes = bytes;
      return true;
    }
  }
  return false;
}

DRIVER cuPointerGetAttribute(void *out, int attribute, uint64_t address) {
  BEGIN("cuPointerGetAttribute", false);
  int index;
  uint64_t begin;
  size_t bytes;
  if (!find_memory(address, &index, &begin, &bytes))
    return invalid_value;
  int value = attribute == CUDA_POINTER_PLACE    ? int(CUDA_PLACE_DEVICE)
              : attribute == CUDA_POINTER_DEVICE ? index
                                                 : 0;
  std::memcpy(out, &value, attribute == CUDA_POINTER_MANAGED ? 1 : sizeof value);
  return fine;
}

DRIVER cuMemGetAddressRange_v2(uint64_t *out_begin, size_t *out_bytes, uint64_t address) {
  BEGIN("cuMemGetAddressRange_v2");
  int index;
  return find_memory(address, &index, out_begin, out_bytes) ? fine : not_found;
}
