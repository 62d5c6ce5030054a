#include "runtime/src/base/element.h"

namespace {
/// Without a pointer, which the loader would have to fill in.
struct element_row {
  char name[11];
  uint8_t bits;
};
} // namespace

/// Row e describes weft_element_t e.
static const element_row elements[] = {
    {"?", 0},          {"bool", 8},       {"i4", 4},   {"u4", 4},    {"i8", 8},     {"u8", 8},
    {"i16", 16},       {"u16", 16},       {"i32", 32}, {"u32", 32},  {"i64", 64},   {"u64", 64},
    {"f8e4m3", 8},     {"f8e5m2", 8},     {"f16", 16}, {"bf16", 16}, {"f32", 32},   {"f64", 64},
    {"f8e4m3fnuz", 8}, {"f8e5m2fnuz", 8}, {"i2", 2},   {"u2", 2},    {"f4e2m1", 4}, {"f8e8m0", 8}};
static const uint32_t last_element = WEFT_F8E8M0;
static_assert(sizeof elements / sizeof elements[0] == last_element + 1, "one row per element");

static const element_row &row_of(uint32_t element) {
  return elements[element <= last_element ? element : 0];
}

uint32_t weft_element_bits(uint32_t element) { return row_of(element).bits; }

const char *weft_element_name(uint32_t element) { return row_of(element).name; }

bool weft_tensor_bytes(uint32_t element, uint32_t rank, const int64_t *dim, int64_t *out_bytes) {
  bool is_empty = false;
  for (uint32_t d = 0; d < rank; ++d) {
    if (dim[d] < 0)
      return false;
    is_empty |= dim[d] == 0;
  }
  *out_bytes = 0;
  if (is_empty)
    return true;
  int64_t bits = weft_element_bits(element);
  for (uint32_t d = 0; d < rank; ++d)
    if (__builtin_mul_overflow(bits, dim[d], &bits))
      return false;
  *out_bytes = bits / 8 + (bits % 8 != 0);
  return true;
}

const char *weft_version(void) { return "0.1.0"; }
