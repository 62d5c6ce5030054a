#include "runtime/src/call/device_memory.h"

#include "runtime/src/base/memory.h"
#include "runtime/src/base/status.h"
#include "runtime/src/call/accelerated.h"
#include "runtime/src/open/accelerator.h"
#include "weft/device.h"

weft_device_t *weft_kernel_device(const weft_module_t *module) {
  return module->accelerator ? module->accelerator->device : module->device;
}

weft_device_t *weft_tensor_device(const weft_module_t *module, const weft_tensor_t &tensor) {
  return tensor.device < 0 ? module->device : weft_kernel_device(module);
}

weft_status_t weft_device_allocate(weft_device_t *device, size_t bytes, size_t alignment,
                                   void **out_memory, weft_error_t *err) {
  return device->calls->allocate(device, WEFT_MEMORY_DEVICE, bytes, alignment, out_memory, err);
}

void weft_device_release(weft_device_t *device, void *memory, size_t bytes) {
  device->calls->release(device, WEFT_MEMORY_DEVICE, memory, bytes);
}

weft_status_t weft_grow(weft_context_t *context, uint8_t **memory, size_t *have, size_t bytes,
                        weft_error_t *err) {
  if (bytes <= *have)
    return WEFT_OK;
  weft_device_t *device = weft_kernel_device(context->module);
  if (*have && context->accelerated) // what was submitted may use it
    if (weft_status_t status = weft_finish_device(context, err))
      return status;
  weft_device_release(device, *memory, *have);
  void *grown;
  weft_status_t status =
      weft_device_allocate(device, bytes, weft_block_alignment(bytes), &grown, err);
  *memory = status ? nullptr : (uint8_t *)grown;
  *have = status ? 0 : bytes;
  return status == WEFT_OUT_OF_MEMORY ? weft_fail_memory(err, (int64_t)bytes) : status;
}

weft_status_t weft_fail_memory(weft_error_t *err, int64_t bytes) {
  char buffer[64];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  weft_text_add_bytes(&text, (uint64_t)bytes);
  return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for the %s that this call needs",
                   buffer);
}
