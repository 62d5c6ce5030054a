// Outputs of a call: their shapes, the memory the caller gave for them, and the memory it did not.
#pragma once

#include "runtime/src/call/entry_check.h"

/// Of the elements that its dimensions say.
int64_t weft_bytes_of(const weft_tensor_t &tensor);

/// Fills element, rank and dimensions of the outputs from values[], as bind left them.
weft_status_t weft_describe_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                    const int64_t *values, weft_tensor_t *out, weft_error_t *err);

/// Outputs with memory have enough of it, aligned, and share no byte with another tensor of the
/// call.
weft_status_t weft_check_given_outputs(const weft_module_t *module,
                                       const weft_function_v1 &function, const weft_tensor_t *in,
                                       const weft_tensor_t *out, weft_error_t *err);

/// The given output `i` has `bytes`, aligned, and shares none with a tensor of the call whose size is known.
weft_status_t weft_check_given_output(const weft_module_t *module, const weft_function_v1 &function,
                                      const weft_tensor_t *in, const weft_tensor_t *out, uint32_t i,
                                      int64_t bytes, weft_error_t *err);

/// Gives a tensor `bytes` of the device that it lies on.
weft_status_t weft_give_memory(const weft_module_t *module, weft_tensor_t *tensor, int64_t bytes,
                               weft_error_t *err);

/// Gives `bytes` to an output that has none, or not enough of this call's.
weft_status_t weft_allocate_output(const weft_module_t *module, weft_tensor_t *out, uint32_t i,
                                   int64_t bytes, weft_error_t *err);

/// Gives memory to the outputs that have none and whose size bind knows. End with weft_finish_outputs, also after a failure.
weft_status_t weft_allocate_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                    weft_tensor_t *out, weft_error_t *err);

/// Hands the outputs that this call allocated to the caller, or frees them when it failed. An
/// output of an earlier call stays the caller's.
void weft_finish_outputs(const weft_module_t *module, weft_tensor_t *out, uint32_t count,
                         bool is_good);
