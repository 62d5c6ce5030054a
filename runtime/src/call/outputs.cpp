#include "runtime/src/call/outputs.h"

#include "runtime/src/base/element.h"
#include "runtime/src/call/context.h"
#include "runtime/src/call/device_memory.h"
#include "runtime/src/call/in_place.h"

bool weft_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes > 0 && b_bytes > 0 && x < y + (uint64_t)b_bytes && y < x + (uint64_t)a_bytes;
}

/// bind does not know its size, run will.
static bool is_late(const weft_tensor_t &tensor) {
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.dim[d] < 0)
      return true;
  return false;
}

int64_t weft_bytes_of(const weft_tensor_t &tensor) {
  int64_t bytes = 0;
  weft_tensor_bytes(tensor.element, tensor.rank, tensor.dim, &bytes);
  return bytes;
}

static bool is_in_place(const weft_module_t *module, const weft_function_v1 &function,
                        uint32_t output) {
  return weft_read_item<weft_argument_v1>(module->descriptor, function.outputs, output).flags &
         WEFT_ARGUMENT_IN_PLACE;
}

weft_status_t weft_check_given_output(const weft_module_t *module, const weft_function_v1 &function,
                                      const weft_tensor_t *in, const weft_tensor_t *out, uint32_t i,
                                      int64_t bytes, weft_error_t *err) {
  const weft_tensor_t &tensor = out[i];
  uint32_t align = (weft_element_bits(tensor.element) + 7) / 8, self = function.inputs.count + i;
  if (tensor.capacity < bytes) {
    weft_message_t m(module, function, self);
    weft_text_add(&m.text, "it needs %lld bytes, but capacity is %lld", (long long)bytes,
                  (long long)tensor.capacity);
    m.fail(err, WEFT_INVALID, "W0423");
    weft_set_hint(err, "pass data NULL to let the library allocate");
    return WEFT_INVALID;
  }
  if ((uintptr_t)tensor.data % align) {
    weft_message_t m(module, function, self);
    weft_text_add(&m.text, "data is not aligned to %u bytes", align);
    return m.fail(err, WEFT_INVALID, "W0405");
  }
  if (!weft_is_contiguous(&tensor)) {
    weft_message_t m(module, function, self);
    weft_text_add(&m.text, "it has gaps or another order of dimensions");
    return m.fail(err, WEFT_INVALID, "W0406");
  }
  // Who comes later is compared then; a late output finds all others there.
  uint32_t count = function.inputs.count + (is_late(tensor) ? function.outputs.count : i);
  for (uint32_t k = 0, pair = 0; k < count; ++k) {
    bool is_input = k < function.inputs.count;
    const weft_tensor_t &other = is_input ? in[k] : out[k - function.inputs.count];
    if (&other == &tensor)
      continue;
    if (!is_input && is_in_place(module, function, k - function.inputs.count))
      continue; // its memory is an input's
    int64_t other_bytes = is_input         ? weft_input_span(module, function, in, k, &pair)
                          : is_late(other) ? other.capacity
                                           : weft_bytes_of(other);
    if (!weft_overlap(tensor.data, bytes, other.data, other_bytes))
      continue;
    weft_message_t m(module, function, self);
    weft_text_add(&m.text, "it overlaps ");
    weft_text_add_argument(&m.text, module, function, k);
    return m.fail(err, WEFT_INVALID, "W0407");
  }
  return WEFT_OK;
}

/// Fills element, rank and dimensions of the outputs from values[].
weft_status_t weft_describe_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                    const int64_t *values, weft_tensor_t *out, weft_error_t *err) {
  const int64_t *dim = values + function.symbols.count + 1;
  for (uint32_t i = 0; i < function.outputs.count; ++i) {
    weft_argument_v1 argument =
        weft_read_item<weft_argument_v1>(module->descriptor, function.outputs, i);
    int64_t bytes;
    if (!(argument.flags & WEFT_ARGUMENT_LATE) &&
        !weft_tensor_bytes(argument.element, argument.rank, dim, &bytes)) {
      weft_message_t m(module, function, function.inputs.count + i);
      weft_text_add(&m.text, "its size overflows");
      return m.fail(err, WEFT_OVER_LIMIT, "W0422");
    }
    out[i].element = argument.element;
    out[i].rank = argument.rank;
    for (uint32_t d = 0; d < WEFT_MAX_RANK; ++d)
      out[i].dim[d] = d < argument.rank ? dim[d] : 0;
    dim += argument.rank;
  }
  return WEFT_OK;
}

weft_status_t weft_check_given_outputs(const weft_module_t *module,
                                       const weft_function_v1 &function, const weft_tensor_t *in,
                                       const weft_tensor_t *out, weft_error_t *err) {
  for (uint32_t i = 0; i < function.outputs.count; ++i) {
    if (!out[i].data || is_late(out[i]) || is_in_place(module, function, i))
      continue;
    weft_status_t status =
        weft_check_given_output(module, function, in, out, i, weft_bytes_of(out[i]), err);
    if (status)
      return status;
  }
  return WEFT_OK;
}

static void release_output(const weft_module_t *module, weft_tensor_t *tensor) {
  if (!(tensor->flags & WEFT_TENSOR_OWNED))
    return;
  weft_device_release(weft_tensor_device(module, *tensor), tensor->data, (size_t)tensor->capacity);
  tensor->data = nullptr;
  tensor->capacity = 0;
  tensor->flags &= ~WEFT_TENSOR_OWNED;
}

void weft_tensor_release(weft_context_t *context, weft_tensor_t *tensor) {
  if (context && tensor)
    release_output(context->module, tensor);
}

/// Hands the outputs that this call allocated to the caller, or frees them when it failed. An
/// output of an earlier call stays the caller's.
void weft_finish_outputs(const weft_module_t *module, weft_tensor_t *out, uint32_t count,
                         bool is_good) {
  for (uint32_t i = 0; out && i < count; ++i) {
    if (!(out[i].flags & WEFT_TENSOR_FRESH))
      continue;
    out[i].flags &= ~WEFT_TENSOR_FRESH;
    if (!is_good)
      release_output(module, &out[i]);
  }
}

weft_status_t weft_give_memory(const weft_module_t *module, weft_tensor_t *tensor, int64_t bytes,
                               weft_error_t *err) {
  // An empty tensor gets memory too: NULL means "not computed" to callers.
  size_t allocated = bytes ? (size_t)bytes : 64;
  void *data;
  if (weft_status_t status =
          weft_device_allocate(weft_tensor_device(module, *tensor), allocated, 64, &data, err))
    return status;
  tensor->data = data;
  tensor->capacity = (int64_t)allocated;
  tensor->flags |= WEFT_TENSOR_OWNED;
  return WEFT_OK;
}

weft_status_t weft_allocate_output(const weft_module_t *module, weft_tensor_t *out, uint32_t i,
                                   int64_t bytes, weft_error_t *err) {
  if (out[i].data && out[i].capacity >= bytes)
    return WEFT_OK;
  release_output(module, &out[i]);
  weft_status_t status = weft_give_memory(module, &out[i], bytes, err);
  if (status == WEFT_OUT_OF_MEMORY)
    return weft_fail(err, status, "W0424", "no memory for output %u (%lld bytes)", i,
                     (long long)bytes);
  if (!status)
    out[i].flags |= WEFT_TENSOR_FRESH;
  return status;
}

weft_status_t weft_allocate_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                    weft_tensor_t *out, weft_error_t *err) {
  for (uint32_t i = 0; i < function.outputs.count; ++i)
    if (!out[i].data && !is_late(out[i]) && !is_in_place(module, function, i))
      if (weft_status_t status = weft_allocate_output(module, out, i, weft_bytes_of(out[i]), err))
        return status;
  return WEFT_OK;
}
