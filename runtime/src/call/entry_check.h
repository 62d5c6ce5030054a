// What a call checks before any compiled code runs, and how a failed check is told to people.
#pragma once

#include "runtime/src/open/words.h"

/// Set in weft_tensor_t.flags of outputs that the library allocated; weft_tensor_release looks at
/// it.
static const uint32_t WEFT_TENSOR_OWNED = 1u << 31;
/// Set while the call that allocated an output can still fail.
static const uint32_t WEFT_TENSOR_FRESH = 1u << 30;

/// Checks number, element, rank, dimensions, strides, data and capacity of the inputs. `needs_data`
/// false leaves data pointers out, for shape queries.
weft_status_t weft_check_inputs(const weft_module_t *module, const weft_function_v1 &function,
                                const weft_tensor_t *in, uint32_t n_in, bool needs_data,
                                weft_error_t *err);

/// Checks number, struct sizes and flags of the outputs.
weft_status_t weft_check_outputs(const weft_module_t *module, const weft_function_v1 &function,
                                 const weft_tensor_t *out, uint32_t n_out, weft_error_t *err);

/// Reports the check that bind or run returned (`result` = 1 + row) for these inputs. `values` are
/// those of run, null for bind.
weft_status_t weft_report_check(const weft_module_t *module, const weft_function_v1 &function,
                                int32_t result, const weft_tensor_t *in, const int64_t *values,
                                weft_error_t *err);

/// Whether two ranges of memory share a byte.
bool weft_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);

/// Strides of a tensor without gaps, or all 0.
bool weft_is_contiguous(const weft_tensor_t *tensor);
