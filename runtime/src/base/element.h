// Sizes of tensors; weft/runtime.h has the names and bits of elements.
#pragma once

#include "weft/runtime.h"

/// Bytes of a tensor; false when a dimension is negative or there are more than 2^63 bits.
bool weft_tensor_bytes(uint32_t element, uint32_t rank, const int64_t *dim, int64_t *out_bytes);
