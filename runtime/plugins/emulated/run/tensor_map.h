// What stands for the 128 opaque bytes of a CUtensorMap.
#ifndef WEFT_EMULATED_RUN_TENSOR_MAP_H
#define WEFT_EMULATED_RUN_TENSOR_MAP_H

#include <cstdint>

namespace weft_emulated {

constexpr uint64_t tensor_map_magic = 0x70616d2074666577;

struct alignas(64) tensor_map {
  uint64_t magic, base;
  uint32_t element_bytes, rank, swizzle, reserved;
  uint32_t sizes[5], box[5]; ///< dimension 0 is the innermost
  uint64_t strides[5];       ///< in bytes
};
static_assert(sizeof(tensor_map) <= 128, "as large as a real one at most");

} // namespace weft_emulated

#endif
