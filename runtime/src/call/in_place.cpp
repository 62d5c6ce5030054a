#include "runtime/src/call/in_place.h"

#include <string.h>

#include "runtime/src/base/element.h"

/// Elements from one place along `dim` to the next.
static bool find_step(const weft_tensor_t &tensor, uint32_t dim, int64_t *out_step) {
  *out_step = 1;
  for (uint32_t d = dim + 1; d < tensor.rank; ++d)
    if (__builtin_mul_overflow(*out_step, tensor.dim[d], out_step))
      return false;
  return true;
}

int64_t weft_room(const weft_tensor_t &tensor, uint32_t dim) {
  int64_t step, stride = tensor.stride[dim - 1];
  return stride && find_step(tensor, dim, &step) && step > 0 ? stride / step : tensor.dim[dim];
}

bool weft_is_buffer(const weft_tensor_t &tensor, uint32_t dim) {
  bool all_zero = true;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    all_zero &= tensor.stride[d] == 0;
  int64_t step;
  if (all_zero)
    return true;
  if (!find_step(tensor, dim, &step))
    return false;
  int64_t room = weft_room(tensor, dim), expected = 1;
  if (room < tensor.dim[dim])
    return false;
  for (uint32_t d = tensor.rank; d-- > 0;) {
    // The stride in front of the room is what says it, also of a single line.
    bool counts = tensor.dim[d] > 1 || d + 1 == dim;
    if (counts && tensor.stride[d] != expected)
      return false;
    if (__builtin_mul_overflow(expected, d == dim ? room : tensor.dim[d], &expected))
      return false;
  }
  return true;
}

bool weft_buffer_bytes(const weft_tensor_t &tensor, uint32_t dim, int64_t *out_bytes) {
  weft_tensor_t buffer = tensor;
  buffer.dim[dim] = weft_room(tensor, dim);
  return weft_tensor_bytes(buffer.element, buffer.rank, buffer.dim, out_bytes);
}

int64_t weft_input_span(const weft_module_t *module, const weft_function_v1 &function,
                        const weft_tensor_t *in, uint32_t index, uint32_t *pair) {
  int64_t bytes = 0;
  const weft_tensor_t &tensor = in[index];
  if (*pair < function.in_place.count && weft_pair(module, function, *pair).input == index)
    weft_buffer_bytes(tensor, weft_pair(module, function, (*pair)++).dim, &bytes);
  else
    weft_tensor_bytes(tensor.element, tensor.rank, tensor.dim, &bytes);
  return bytes;
}

static weft_status_t fail_overlap(const weft_module_t *module, const weft_function_v1 &function,
                                  uint32_t input, uint32_t other, weft_error_t *err) {
  weft_message_t m(module, function, input);
  weft_text_add(&m.text, "it grows in place, but overlaps ");
  weft_text_add_argument(&m.text, module, function, other);
  return m.fail(err, WEFT_INVALID, "W0407");
}

/// The buffer of a pair against all other inputs.
static weft_status_t check_apart(const weft_module_t *module, const weft_function_v1 &function,
                                 const weft_tensor_t *in, const weft_in_place_v1 &pair,
                                 weft_error_t *err) {
  int64_t bytes = 0;
  weft_buffer_bytes(in[pair.input], pair.dim, &bytes);
  uint32_t next = 0;
  for (uint32_t i = 0; i < function.inputs.count; ++i) {
    int64_t other = weft_input_span(module, function, in, i, &next);
    if (i != pair.input && weft_overlap(in[pair.input].data, bytes, in[i].data, other))
      return fail_overlap(module, function, pair.input, i, err);
  }
  return WEFT_OK;
}

weft_status_t weft_check_in_place(const weft_module_t *module, const weft_function_v1 &function,
                                  const weft_tensor_t *in, const weft_tensor_t *out,
                                  weft_error_t *err) {
  for (uint32_t i = 0; i < function.in_place.count; ++i) {
    weft_in_place_v1 pair = weft_pair(module, function, i);
    if (weft_status_t status = check_apart(module, function, in, pair, err))
      return status;
    const weft_tensor_t &output = out[pair.output], &input = in[pair.input];
    if (!output.data || (output.data == input.data && output.device == input.device &&
                         !(output.flags & WEFT_TENSOR_OWNED)))
      continue;
    weft_message_t m(module, function, function.inputs.count + pair.output);
    weft_text_add(&m.text, "it lies in the memory of ");
    weft_text_add_argument(&m.text, module, function, pair.input);
    weft_text_add(&m.text, ", but other memory is given");
    m.fail(err, WEFT_INVALID, "W0407");
    weft_set_hint(err, "pass data NULL, or the input's");
    return WEFT_INVALID;
  }
  return WEFT_OK;
}

void weft_describe_in_place(const weft_module_t *module, const weft_function_v1 &function,
                            const weft_tensor_t *in, weft_tensor_t *out) {
  for (uint32_t i = 0; i < function.in_place.count; ++i) {
    weft_in_place_v1 pair = weft_pair(module, function, i);
    weft_tensor_t &output = out[pair.output];
    int64_t stride = 1, room = weft_room(in[pair.input], pair.dim);
    memset(output.stride, 0, sizeof output.stride);
    for (uint32_t d = output.rank; d-- > 0;) {
      output.stride[d] = stride;
      stride *= d == pair.dim ? room : output.dim[d];
    }
  }
}

void weft_give_in_place(const weft_module_t *module, const weft_function_v1 &function,
                        const weft_tensor_t *in, weft_tensor_t *out) {
  for (uint32_t i = 0; i < function.in_place.count; ++i) {
    weft_in_place_v1 pair = weft_pair(module, function, i);
    out[pair.output].data = in[pair.input].data;
    out[pair.output].capacity = in[pair.input].capacity;
    out[pair.output].device = in[pair.input].device;
  }
}
