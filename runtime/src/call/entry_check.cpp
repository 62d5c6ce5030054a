#include "runtime/src/call/entry_check.h"

#include "runtime/src/base/element.h"
#include "runtime/src/call/in_place.h"

bool weft_is_contiguous(const weft_tensor_t *tensor) {
  bool all_zero = true, is_empty = false;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    all_zero &= tensor->stride[d] == 0;
    is_empty |= tensor->dim[d] == 0;
  }
  if (all_zero || is_empty)
    return true;
  int64_t expected = 1;
  for (uint32_t d = tensor->rank; d-- > 0;) {
    if (tensor->dim[d] != 1 && tensor->stride[d] != expected)
      return false;
    if (__builtin_mul_overflow(expected, tensor->dim[d], &expected))
      return false;
  }
  return true;
}

/// Element, rank and dimensions are what the function expects and describe a tensor at all.
static weft_status_t check_form(const weft_module_t *module, const weft_function_v1 &function,
                                const weft_argument_v1 &argument, const weft_tensor_t &tensor,
                                uint32_t i, weft_error_t *err) {
  if (tensor.struct_size == sizeof tensor && tensor.element == argument.element &&
      tensor.rank == argument.rank && !(tensor.flags & ~WEFT_TENSOR_OWNED))
    return WEFT_OK;
  weft_message_t m(module, function, i);
  if (tensor.struct_size != sizeof tensor) {
    weft_text_add(&m.text, "struct_size is %u instead of %zu", tensor.struct_size, sizeof tensor);
    return m.fail(err, WEFT_INVALID, "W0407");
  }
  if (tensor.element != argument.element) {
    weft_text_add(&m.text, "element type is %s, but %s is needed",
                  weft_element_name(tensor.element), weft_element_name(argument.element));
    return m.fail(err, WEFT_INVALID, "W0403");
  }
  if (tensor.rank != argument.rank) {
    weft_text_add(&m.text, "rank is %u, but %u is needed", tensor.rank, argument.rank);
    m.fail(err, WEFT_INVALID, "W0404");
    weft_message_t hint;
    for (uint32_t d = 0; d < argument.rank; ++d)
      weft_text_add(
          &hint.text, "%s%.60s", d ? ", " : "the shape is [",
          weft_text(module->descriptor,
                    weft_item<weft_formula_v1>(module->descriptor, argument.dims, d).text));
    weft_set_hint(err, argument.rank ? "%.240s]" : "it is a single value", hint.buffer);
    return WEFT_INVALID;
  }
  weft_text_add(&m.text, "flags %#x are not known", tensor.flags);
  return m.fail(err, WEFT_INVALID, "W0407");
}

/// `room_dim`: along which it has room, or 0.
static weft_status_t check_memory(const weft_module_t *module, const weft_function_v1 &function,
                                  const weft_tensor_t &tensor, uint32_t i, uint32_t room_dim,
                                  bool needs_data, weft_error_t *err) {
  int64_t bytes;
  uint32_t align = (weft_element_bits(tensor.element) + 7) / 8;
  bool is_buffer = room_dim && weft_is_buffer(tensor, room_dim);
  if (!weft_tensor_bytes(tensor.element, tensor.rank, tensor.dim, &bytes) ||
      (is_buffer && !weft_buffer_bytes(tensor, room_dim, &bytes))) {
    weft_message_t m(module, function, i);
    for (uint32_t d = 0; d < tensor.rank; ++d)
      if (tensor.dim[d] < 0) {
        weft_text_add(&m.text, "dimension %u is %lld", d, (long long)tensor.dim[d]);
        return m.fail(err, WEFT_INVALID, "W0407");
      }
    weft_text_add(&m.text, "its size overflows");
    return m.fail(err, WEFT_INVALID, "W0407");
  }
  if (room_dim && !is_buffer) {
    weft_message_t m(module, function, i);
    weft_text_add(&m.text, "it has other gaps than room behind dimension %u", room_dim);
    m.fail(err, WEFT_INVALID, "W0406");
    weft_set_hint(err, "give a view of a row-major buffer that is longer along dimension %u",
                  room_dim);
    return WEFT_INVALID;
  }
  if (!room_dim && !weft_is_contiguous(&tensor)) {
    weft_message_t m(module, function, i);
    weft_text_add(&m.text, "it has gaps or another order of dimensions");
    m.fail(err, WEFT_INVALID, "W0406");
    weft_set_hint(err, "copy it to row-major memory, with strides of 0 or without gaps");
    return WEFT_INVALID;
  }
  bool is_missing = bytes && !tensor.data, is_aligned = (uintptr_t)tensor.data % align == 0;
  bool is_short = tensor.capacity < 0 || (tensor.capacity && tensor.capacity < bytes);
  if (!needs_data || (!is_missing && is_aligned && !is_short))
    return WEFT_OK;
  weft_message_t m(module, function, i); // words take longer than all checks
  if (is_missing)
    weft_text_add(&m.text, "data is NULL");
  else if (!is_aligned)
    weft_text_add(&m.text, "data is not aligned to %u bytes", align);
  else
    weft_text_add(&m.text, "its %s needs %lld bytes, but capacity is %lld",
                  room_dim ? "buffer" : "shape", (long long)bytes, (long long)tensor.capacity);
  return m.fail(err, WEFT_INVALID, "W0405");
}

/// "needs 2 inputs (ids, mask), but 1 is given".
static weft_status_t wrong_count(const weft_module_t *module, const weft_function_v1 &function,
                                 const weft_list_t &list, const char *what, uint32_t given,
                                 weft_error_t *err) {
  weft_message_t m;
  weft_text_add(&m.text, "function '%.64s' has %u %s%s",
                weft_text(module->descriptor, function.name), list.count, what,
                list.count == 1 ? "" : "s");
  for (uint32_t i = 0; i < list.count && m.text.used < 360; ++i)
    weft_text_add(&m.text, "%s%.60s", i ? ", " : " (",
                  weft_text(module->descriptor,
                            weft_item<weft_argument_v1>(module->descriptor, list, i).name));
  weft_text_add(&m.text, "%s, but %u %s given", list.count ? ")" : "", given,
                given == 1 ? "is" : "are");
  return m.fail(err, WEFT_INVALID, "W0402");
}

weft_status_t weft_check_inputs(const weft_module_t *module, const weft_function_v1 &function,
                                const weft_tensor_t *in, uint32_t n_in, bool needs_data,
                                weft_error_t *err) {
  if (n_in != function.inputs.count)
    return wrong_count(module, function, function.inputs, "input", n_in, err);
  if (n_in && !in)
    return weft_fail(err, WEFT_INVALID, "W0401", "the array of inputs is NULL");
  uint32_t next_pair = 0; // they are in the order of inputs
  for (uint32_t i = 0; i < n_in; ++i) {
    weft_argument_v1 argument =
        weft_read_item<weft_argument_v1>(module->descriptor, function.inputs, i);
    bool has_room = argument.flags & WEFT_ARGUMENT_IN_PLACE;
    uint32_t room_dim = has_room ? weft_pair(module, function, next_pair++).dim : 0;
    weft_status_t status = check_form(module, function, argument, in[i], i, err);
    if (!status)
      status = check_memory(module, function, in[i], i, room_dim, needs_data, err);
    if (status)
      return status;
  }
  return WEFT_OK;
}

weft_status_t weft_check_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                 const weft_tensor_t *out, uint32_t n_out, weft_error_t *err) {
  if (n_out != function.outputs.count)
    return wrong_count(module, function, function.outputs, "output", n_out, err);
  if (n_out && !out)
    return weft_fail(err, WEFT_INVALID, "W0401", "the array of outputs is NULL");
  for (uint32_t i = 0; i < n_out; ++i) {
    const weft_tensor_t &tensor = out[i];
    if (tensor.struct_size == sizeof tensor && !(tensor.flags & ~WEFT_TENSOR_OWNED) &&
        tensor.capacity >= 0)
      continue;
    weft_message_t m(module, function, function.inputs.count + i);
    if (tensor.struct_size != sizeof tensor)
      weft_text_add(&m.text, "struct_size is %u instead of %zu", tensor.struct_size, sizeof tensor);
    else if (tensor.capacity < 0)
      weft_text_add(&m.text, "capacity is %lld", (long long)tensor.capacity);
    else
      weft_text_add(&m.text, "flags %#x are not known", tensor.flags);
    return m.fail(err, WEFT_INVALID, "W0407");
  }
  return WEFT_OK;
}
