// Where tensors lie: on the host, or on the device that a context computes on.
#pragma once

#include "runtime/src/call/entry_check.h"

/// Every tensor of a call lies where it says, as far as its device knows. Their forms are checked before.
weft_status_t weft_check_places(const weft_module_t *module, const weft_function_v1 &function,
                                const weft_tensor_t *in, const weft_tensor_t *out,
                                weft_error_t *err);
