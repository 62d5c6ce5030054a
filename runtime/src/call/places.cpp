#include "runtime/src/call/places.h"

#include <string.h>

#include "runtime/src/base/element.h"
#include "runtime/src/base/sized.h"
#include "runtime/src/call/accelerated.h"
#include "runtime/src/call/device_memory.h"
#include "runtime/src/call/in_place.h"
#include "runtime/src/call/outputs.h"
#include "runtime/src/open/accelerator.h"

/// Bytes from there to the end of an allocation on the module's device; -1: it cannot say.
static int64_t bytes_at(const weft_module_t *module, const void *data) {
  weft_accelerator *accelerator = module->accelerator;
  const weft_device_v1 *calls = accelerator ? accelerator->device->calls : nullptr;
  bool can_say =
      calls && calls->struct_size >= offsetof(weft_device_v1, elapsed) && calls->bytes_at;
  return can_say ? (int64_t)calls->bytes_at(accelerator->device, data) : -1;
}

/// What is wrong with a tensor of `bytes`; false when nothing is.
static bool find_wrong_place(const weft_module_t *module, const weft_tensor_t &tensor,
                             int64_t bytes, weft_text_t *text) {
  int32_t index = module->accelerator ? module->accelerator->index : -1;
  bool is_on_device = tensor.device >= 0;
  if (tensor.device != -1 && tensor.device != index) {
    weft_text_add(text, "device is %d, but only host memory (-1)", tensor.device);
    weft_text_add(text, index < 0 ? " is possible" : " and device %d are possible", index);
    return true;
  }
  int64_t there = tensor.data ? bytes_at(module, tensor.data) : -1;
  if (there < 0 || (is_on_device ? there >= bytes : there == 0))
    return false;
  if (!is_on_device)
    weft_text_add(text, "data lies on device %d, but device is -1", index);
  else if (!there)
    weft_text_add(text, "data does not lie on device %d", index);
  else
    weft_text_add(text, "%lld bytes are needed at data, but its memory on the device has %lld",
                  (long long)bytes, (long long)there);
  return true;
}

weft_status_t weft_check_places(const weft_module_t *module, const weft_function_v1 &function,
                                const weft_tensor_t *in, const weft_tensor_t *out,
                                weft_error_t *err) {
  uint32_t inputs = function.inputs.count, pair = 0;
  for (uint32_t i = 0; i < inputs + function.outputs.count; ++i) {
    const weft_tensor_t &tensor = i < inputs ? in[i] : out[i - inputs];
    if (tensor.device == -1 && !module->accelerator) // the usual call
      continue;
    int64_t bytes = i < inputs ? weft_input_span(module, function, in, i, &pair) : tensor.capacity;
    char reason[160];
    weft_text_t text = weft_text_in(reason, sizeof reason);
    if (!find_wrong_place(module, tensor, bytes, &text))
      continue;
    weft_message_t m(module, function, i);
    weft_text_add(&m.text, "%s", reason);
    return m.fail(err, WEFT_INVALID, "W0407");
  }
  return WEFT_OK;
}

//===----------------------------------------------------------------------===//
// What a program asks for
//===----------------------------------------------------------------------===//

const char *weft_context_device(const weft_context_t *context) {
  if (!context)
    return nullptr;
  return context->module->accelerator ? context->module->accelerator->name : "cpu";
}

weft_status_t weft_context_copied(const weft_context_t *context, weft_copied_t *out_copied) {
  if (!context || !weft_has_room(out_copied))
    return WEFT_INVALID;
  weft_copied_t copied = {sizeof copied, 0, 0, 0};
  if (const weft_accelerated *own = context->accelerated) {
    copied.to_device = own->sent;
    copied.from_device = own->fetched;
  }
  return weft_give_sized(out_copied, copied);
}

/// A tensor of a program's own, without gaps; its bytes.
static weft_status_t check_own(const weft_context_t *context, const weft_tensor_t *tensor,
                               bool needs_data, int64_t *out_bytes, weft_error_t *err) {
  const char *wrong = nullptr;
  char reason[160];
  weft_text_t text = weft_text_in(reason, sizeof reason);
  if (!context || !tensor || tensor->struct_size != sizeof *tensor)
    wrong = "it is NULL, or its struct_size is wrong";
  else if (!weft_element_bits(tensor->element) || tensor->rank > WEFT_MAX_RANK ||
           !weft_tensor_bytes(tensor->element, tensor->rank, tensor->dim, out_bytes))
    wrong = "its element, rank and dims are none";
  else if (!weft_is_contiguous(tensor))
    wrong = "it has gaps or another order of dimensions";
  else if (needs_data ? !tensor->data && *out_bytes : tensor->data != nullptr)
    wrong = needs_data ? "data is NULL" : "it has data already";
  else if (find_wrong_place(context->module, *tensor, *out_bytes, &text))
    wrong = reason;
  return wrong ? weft_fail(err, WEFT_INVALID, "W0407", "a tensor: %s", wrong) : WEFT_OK;
}

weft_status_t weft_tensor_allocate(weft_context_t *context, weft_tensor_t *tensor,
                                   weft_error_t *err) {
  int64_t bytes;
  weft_status_t status = check_own(context, tensor, false, &bytes, err);
  if (!status)
    status = weft_give_memory(context->module, tensor, bytes, err);
  if (status)
    return status == WEFT_OUT_OF_MEMORY ? weft_fail_memory(err, bytes) : status;
  return weft_succeed(err);
}

/// Between the host and the device, or on either.
static weft_status_t copy_bytes(weft_context_t *context, const weft_tensor_t &from,
                                const weft_tensor_t &to, int64_t bytes, weft_error_t *err) {
  if (from.device < 0 && to.device < 0) {
    memmove(to.data, from.data, (size_t)bytes);
    return WEFT_OK;
  }
  weft_way_t way = from.device < 0 ? WEFT_TO_DEVICE
                   : to.device < 0 ? WEFT_FROM_DEVICE
                                   : WEFT_ON_DEVICE;
  weft_status_t status = weft_copy_in_order(context, way, to.data, from.data, bytes, err);
  weft_status_t finished = weft_finish_device(context, status ? nullptr : err);
  return status ? status : finished;
}

weft_status_t weft_tensor_copy(weft_context_t *context, const weft_tensor_t *from,
                               const weft_tensor_t *to, weft_error_t *err) {
  int64_t bytes, same;
  weft_status_t status = check_own(context, from, true, &bytes, err);
  if (!status)
    status = check_own(context, to, true, &same, err);
  if (status)
    return status;
  if (from->element != to->element || from->rank != to->rank ||
      memcmp(from->dim, to->dim, from->rank * sizeof *from->dim))
    return weft_fail(err, WEFT_INVALID, "W0407", "tensors of other shapes are not copied");
  if ((status = weft_enter_context(context, err)))
    return status;
  weft_succeed(err);
  status = copy_bytes(context, *from, *to, bytes, err);
  context->state.store(WEFT_IDLE);
  return status;
}
