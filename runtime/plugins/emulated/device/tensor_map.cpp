// Descriptions of tensors for copies of boxes.
#include "runtime/plugins/emulated/run/tensor_map.h"

#include <cstring>

#include "runtime/plugins/emulated/emulated.h"

using namespace weft_emulated;

weft_status_t weft_emulated_encode_tiled(weft_emulated_tensor_map_t *out,
                                         const weft_emulated_tensor_t *tensor) {
  tensor_map map = {};
  map.magic = tensor_map_magic;
  map.base = uint64_t(tensor->base);
  map.element_bytes = tensor->element_bytes;
  map.rank = tensor->rank;
  map.swizzle = tensor->swizzle;
  uint32_t e = map.element_bytes, s = map.swizzle;
  bool has_element = e == 1 || e == 2 || e == 4 || e == 8;
  bool has_swizzle = s == 0 || s == 32 || s == 64 || s == 128;
  if (!has_element || !has_swizzle || map.rank < 1 || map.rank > 5 || map.base % 16)
    return WEFT_INVALID;
  for (uint32_t d = 0; d < map.rank; ++d) {
    map.sizes[d] = tensor->sizes[d], map.box[d] = tensor->box[d];
    map.strides[d] = d ? tensor->strides[d - 1] : e;
    if (map.box[d] < 1 || map.box[d] > 256 || (d && map.strides[d] % 16))
      return WEFT_INVALID;
  }
  if (map.box[0] * e % 16 || (s && map.box[0] * e > s))
    return WEFT_INVALID;
  std::memset(out, 0, sizeof *out);
  std::memcpy(out, &map, sizeof map);
  return WEFT_OK;
}
