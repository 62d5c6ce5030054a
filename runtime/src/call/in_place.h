// Inputs with room: outputs that extend one lie in its memory (weft_in_place_v1).
//
// The input is a view of a buffer that is longer along one dimension. How long, the stride in front of that dimension says; a tensor
// without strides has no room but for itself.
#pragma once

#include "runtime/src/call/entry_check.h"

inline weft_in_place_v1 weft_pair(const weft_module_t *module, const weft_function_v1 &function,
                                  uint32_t index) {
  return weft_item<weft_in_place_v1>(module->descriptor, function.in_place, index);
}

/// How long the buffer of a tensor is along `dim`.
int64_t weft_room(const weft_tensor_t &tensor, uint32_t dim);

/// Strides without gaps but behind dimension `dim`, or all 0.
bool weft_is_buffer(const weft_tensor_t &tensor, uint32_t dim);

/// Bytes of the whole buffer; false when that overflows.
bool weft_buffer_bytes(const weft_tensor_t &tensor, uint32_t dim, int64_t *out_bytes);

/// Bytes that belong to input `index`: all of its buffer. Inputs are asked about in order, `pair` counts those with room, from 0.
int64_t weft_input_span(const weft_module_t *module, const weft_function_v1 &function,
                        const weft_tensor_t *in, uint32_t index, uint32_t *pair);

/// Buffers share no byte with each other nor with another input, and the outputs that lie in them were given no other memory.
weft_status_t weft_check_in_place(const weft_module_t *module, const weft_function_v1 &function,
                                  const weft_tensor_t *in, const weft_tensor_t *out,
                                  weft_error_t *err);

/// Strides of the outputs in place, as their dimensions are known: those of the buffer.
void weft_describe_in_place(const weft_module_t *module, const weft_function_v1 &function,
                            const weft_tensor_t *in, weft_tensor_t *out);

/// Data, device and capacity of the outputs in place: the inputs'.
void weft_give_in_place(const weft_module_t *module, const weft_function_v1 &function,
                        const weft_tensor_t *in, weft_tensor_t *out);
