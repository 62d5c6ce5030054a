// The functions of NVIDIA's driver that the plug-in calls: found in libcuda.so.1, which is opened once, so that neither its headers nor the CUDA
// Toolkit are needed. Types and numbers are those of the driver's interface.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "weft/runtime.h"

typedef int cuda_result_t; ///< 0: fine
typedef int cuda_device_t;
typedef uint64_t cuda_address_t;
typedef struct cuda_context *cuda_context_t;
typedef struct cuda_module *cuda_module_t;
typedef struct cuda_function *cuda_function_t;
typedef struct cuda_stream *cuda_stream_t;
typedef struct cuda_event *cuda_event_t;

enum cuda_attribute_t {
  CUDA_SHARED_BYTES = 97, ///< of a block, when it asks for more than the usual
  CUDA_PROCESSORS = 16,
  CUDA_MAJOR = 75,
  CUDA_MINOR = 76
};
/// Of a pointer.
enum cuda_pointer_t { CUDA_POINTER_PLACE = 2, CUDA_POINTER_MANAGED = 8, CUDA_POINTER_DEVICE = 9 };
enum {
  CUDA_PLACE_DEVICE = 2, ///< of CUDA_POINTER_PLACE
  CUDA_INVALID = 1,      ///< a number
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NO_DEVICE = 100,
  CUDA_NO_CODE = 209,  ///< for this GPU
  CUDA_BAD_CODE = 218, ///< PTX with an error
  CUDA_NEW_CODE = 222, ///< PTX of a version that the driver does not know
  CUDA_NOT_READY = 600,
  CUDA_FIRST_FAULT = 700, ///< of a kernel's, behind which nothing works
  CUDA_LAST_FAULT = 719,
  CUDA_PEER_ALREADY = 704
};
enum {
  CUDA_STREAM_ALONE = 1, ///< does not wait for the stream without a number
  CUDA_EVENT_TIMED = 0,
  CUDA_HOST_PORTABLE = 1,
  CUDA_FUNCTION_SHARED = 8, ///< attribute: bytes of a block that launches ask for
  CUDA_JIT_LOG = 5,
  CUDA_JIT_LOG_BYTES = 6
};

/// Member, name in the library, parameters.
#define CUDA_FUNCTIONS(F)                                                                          \
  F(init, "cuInit", (unsigned))                                                                    \
  F(version, "cuDriverGetVersion", (int *))                                                        \
  F(error_text, "cuGetErrorString", (cuda_result_t, const char **))                                \
  F(count, "cuDeviceGetCount", (int *))                                                            \
  F(get, "cuDeviceGet", (cuda_device_t *, int))                                                    \
  F(attribute, "cuDeviceGetAttribute", (int *, int, cuda_device_t))                                \
  F(retain, "cuDevicePrimaryCtxRetain", (cuda_context_t *, cuda_device_t))                         \
  F(give_back, "cuDevicePrimaryCtxRelease_v2", (cuda_device_t))                                    \
  F(enter, "cuCtxPushCurrent_v2", (cuda_context_t))                                                \
  F(leave, "cuCtxPopCurrent_v2", (cuda_context_t *))                                               \
  F(can_reach, "cuDeviceCanAccessPeer", (int *, cuda_device_t, cuda_device_t))                     \
  F(reach, "cuCtxEnablePeerAccess", (cuda_context_t, unsigned))                                    \
  F(allocate, "cuMemAlloc_v2", (cuda_address_t *, size_t))                                         \
  F(release, "cuMemFree_v2", (cuda_address_t))                                                     \
  F(allocate_pinned, "cuMemHostAlloc", (void **, size_t, unsigned))                                \
  F(release_pinned, "cuMemFreeHost", (void *))                                                     \
  F(pointer, "cuPointerGetAttribute", (void *, int, cuda_address_t))                               \
  F(range, "cuMemGetAddressRange_v2", (cuda_address_t *, size_t *, cuda_address_t))                \
  F(load, "cuModuleLoadDataEx", (cuda_module_t *, const void *, unsigned, int *, void **))         \
  F(unload, "cuModuleUnload", (cuda_module_t))                                                     \
  F(function, "cuModuleGetFunction", (cuda_function_t *, cuda_module_t, const char *))             \
  F(set_function, "cuFuncSetAttribute", (cuda_function_t, int, int))                               \
  F(open_stream, "cuStreamCreate", (cuda_stream_t *, unsigned))                                    \
  F(close_stream, "cuStreamDestroy_v2", (cuda_stream_t))                                           \
  F(finish, "cuStreamSynchronize", (cuda_stream_t))                                                \
  F(follow, "cuStreamWaitEvent", (cuda_stream_t, cuda_event_t, unsigned))                          \
  F(to_device, "cuMemcpyHtoDAsync_v2", (cuda_address_t, const void *, size_t, cuda_stream_t))      \
  F(from_device, "cuMemcpyDtoHAsync_v2", (void *, cuda_address_t, size_t, cuda_stream_t))          \
  F(within, "cuMemcpyDtoDAsync_v2", (cuda_address_t, cuda_address_t, size_t, cuda_stream_t))       \
  F(between, "cuMemcpyPeerAsync",                                                                  \
    (cuda_address_t, cuda_context_t, cuda_address_t, cuda_context_t, size_t, cuda_stream_t))       \
  F(launch, "cuLaunchKernel",                                                                      \
    (cuda_function_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
     cuda_stream_t, void **, void **))                                                             \
  F(open_event, "cuEventCreate", (cuda_event_t *, unsigned))                                       \
  F(close_event, "cuEventDestroy_v2", (cuda_event_t))                                              \
  F(record, "cuEventRecord", (cuda_event_t, cuda_stream_t))                                        \
  F(is_done, "cuEventQuery", (cuda_event_t))                                                       \
  F(wait, "cuEventSynchronize", (cuda_event_t))                                                    \
  F(elapsed, "cuEventElapsedTime", (float *, cuda_event_t, cuda_event_t))

struct cuda_driver_t {
#define F(member, name, parameters) cuda_result_t(*member) parameters;
  CUDA_FUNCTIONS(F)
#undef F
};

/// The driver of this machine, ready to be used. Fails with DEVICE, and says what is missing.
weft_status_t weft_cuda_driver(const cuda_driver_t **out_driver, weft_error_t *err);

/// What the driver says of a failure. OUT_OF_MEMORY, or DEVICE.
weft_status_t weft_cuda_fail(const cuda_driver_t *driver, cuda_result_t result, const char *what,
                             weft_error_t *err);
