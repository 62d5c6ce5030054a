// Memory of calls, which their module's device gives: arenas, scratch, late blocks and outputs.
#pragma once

#include "runtime/src/open/module.h"

/// Where a module's kernels run, and what lies in memory while they do.
weft_device_t *weft_kernel_device(const weft_module_t *module);

/// `bytes` > 0 at a multiple of `alignment`. Fails as the device does; OUT_OF_MEMORY leaves the words to the caller.
weft_status_t weft_device_allocate(weft_device_t *device, size_t bytes, size_t alignment,
                                   void **out_memory, weft_error_t *err);

/// Takes back what weft_device_allocate gave. NULL is allowed.
void weft_device_release(weft_device_t *device, void *memory, size_t bytes);

/// Makes the context's block at `memory`, of `have` bytes, at least as large as `bytes`. Its contents do not survive.
weft_status_t weft_grow(weft_context_t *context, uint8_t **memory, size_t *have, size_t bytes,
                        weft_error_t *err);

/// Whose memory a tensor of a call lies in.
weft_device_t *weft_tensor_device(const weft_module_t *module, const weft_tensor_t &tensor);

/// "no memory for the 3.0 GiB that this call needs"
weft_status_t weft_fail_memory(weft_error_t *err, int64_t bytes);
