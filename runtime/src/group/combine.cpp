#include "runtime/src/group/combine.h"

#include <string.h>

namespace {
/// Elements that are combined before the next ones: what lies between stays in the first-level cache.
constexpr int64_t tile_elements = 1024;
constexpr int64_t vector_bytes = 16; ///< what every processor has

struct sum {
  template <class V> static V of(V a, V b) { return a + b; }
};
struct prod {
  template <class V> static V of(V a, V b) { return a * b; }
};
// A nan is not equal to itself; as the second operand it is taken because no comparison with it is true.
struct max {
  template <class V> static V of(V a, V b) { return ((a > b) | (a != a)) ? a : b; }
};
struct min {
  template <class V> static V of(V a, V b) { return ((a < b) | (a != a)) ? a : b; }
};

/// What elements are widened to, or T itself.
template <class A, class T> struct plain {
  static A widen(T value) { return (A)value; }
  static T narrow(A value) { return (T)value; }
};

float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct bf16 {
  static float widen(uint16_t value) { return float_of((uint32_t)value << 16); }
  static uint16_t narrow(float value) {
    uint32_t bits = bits_of(value);
    if (value != value)
      return (uint16_t)(bits >> 16 | 0x40); // stays a nan
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
};

struct f16 {
  static float widen(uint16_t value) {
    uint32_t sign = (uint32_t)(value & 0x8000) << 16, rest = value & 0x7FFF;
    if (rest >= 0x7C00) // infinity and nan
      return float_of(sign | 0x7F800000 | (rest & 0x3FF) << 13);
    // The exponent is 112 too small, which a product mends, also for numbers below the normal ones.
    return float_of(sign | bits_of(float_of(rest << 13) * 0x1p112f));
  }
  static uint16_t narrow(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits > 0x7F800000)
      return (uint16_t)(sign | 0x7E00);
    if (bits >= 0x477FF000) // rounds to 65536 or more
      return (uint16_t)(sign | 0x7C00);
    if (bits < 0x38800000) // below the normal ones: an addition rounds to multiples of 2^-24
      return (uint16_t)(sign | (bits_of(float_of(bits) + 0.5f) - 0x3F000000));
    return (uint16_t)(sign | ((bits + 0xFFF + (bits >> 13 & 1) - 0x38000000) >> 13));
  }
};
} // namespace

/// result = a op b. All three may be the same memory.
template <class A, class Op>
static void combine_two(const A *a, const A *b, int64_t count, A *result) {
  typedef A vector __attribute__((vector_size(vector_bytes)));
  constexpr int64_t lanes = vector_bytes / (int64_t)sizeof(A);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    vector x, y;
    memcpy(&x, a + i, sizeof x);
    memcpy(&y, b + i, sizeof y);
    x = Op::of(x, y);
    memcpy(result + i, &x, sizeof x);
  }
  for (; i < count; ++i)
    result[i] = Op::of(a[i], b[i]);
}

template <class A> using combine_fn = void (*)(const A *, const A *, int64_t, A *);

template <class A> static combine_fn<A> combination(uint32_t combiner) {
  switch (combiner) {
  case WEFT_MAX:
    return combine_two<A, max>;
  case WEFT_MIN:
    return combine_two<A, min>;
  case WEFT_PROD:
    return combine_two<A, prod>;
  default:
    return combine_two<A, sum>;
  }
}

/// Elements that are combined as they are. The last step alone writes the result, which may be any of the sources.
template <class A>
static void combine_plain(uint32_t combiner, const void *const *sources, int32_t source_count,
                          int64_t count, void *result) {
  combine_fn<A> combine = combination<A>(combiner);
  A tile[tile_elements];
  for (int64_t at = 0; at < count; at += tile_elements) {
    int64_t size = count - at < tile_elements ? count - at : tile_elements;
    const A *sum = (const A *)sources[0] + at;
    for (int32_t s = 1; s < source_count; ++s) {
      A *to = s + 1 == source_count ? (A *)result + at : tile;
      combine(sum, (const A *)sources[s] + at, size, to);
      sum = to;
    }
    if (source_count == 1)
      memmove((A *)result + at, sum, (size_t)size * sizeof(A));
  }
}

/// Elements T that are combined as A.
template <class A, class T, class Convert>
static void combine_widened(uint32_t combiner, const void *const *sources, int32_t source_count,
                            int64_t count, void *result) {
  combine_fn<A> combine = combination<A>(combiner);
  A tile[tile_elements], next[tile_elements];
  for (int64_t at = 0; at < count; at += tile_elements) {
    int64_t size = count - at < tile_elements ? count - at : tile_elements;
    for (int32_t s = 0; s < source_count; ++s) {
      const T *source = (const T *)sources[s] + at;
      A *to = s ? next : tile;
      for (int64_t i = 0; i < size; ++i)
        to[i] = Convert::widen(source[i]);
      if (s)
        combine(tile, next, size, tile);
    }
    for (int64_t i = 0; i < size; ++i)
      ((T *)result)[at + i] = Convert::narrow(tile[i]);
  }
}

using combine_all_fn = void (*)(uint32_t, const void *const *, int32_t, int64_t, void *);

template <class A, class T> static constexpr combine_all_fn widened() {
  return combine_widened<A, T, plain<A, T>>;
}

/// Sums and products of integers wrap around, for which the sign does not matter; extremes need it.
static combine_all_fn combination_of(uint32_t element, uint32_t combiner) {
  bool is_signed =
      element == WEFT_I8 || element == WEFT_I16 || element == WEFT_I32 || element == WEFT_I64;
  bool is_extreme = combiner == WEFT_MAX || combiner == WEFT_MIN;
  switch (is_signed && !is_extreme ? element + 1 : element) {
  case WEFT_F32:
    return combine_plain<float>;
  case WEFT_F64:
    return combine_plain<double>;
  case WEFT_F16:
    return combine_widened<float, uint16_t, f16>;
  case WEFT_BF16:
    return combine_widened<float, uint16_t, bf16>;
  case WEFT_I8:
    return widened<int64_t, int8_t>();
  case WEFT_I16:
    return widened<int64_t, int16_t>();
  case WEFT_I32:
    return widened<int64_t, int32_t>();
  case WEFT_I64:
    return combine_plain<int64_t>;
  case WEFT_BOOL:
    return is_extreme ? widened<uint64_t, uint8_t>() : nullptr;
  case WEFT_U8:
    return widened<uint64_t, uint8_t>();
  case WEFT_U16:
    return widened<uint64_t, uint16_t>();
  case WEFT_U32:
    return widened<uint64_t, uint32_t>();
  case WEFT_U64:
    return combine_plain<uint64_t>;
  default:
    return nullptr;
  }
}
static_assert(WEFT_I8 + 1 == WEFT_U8 && WEFT_I16 + 1 == WEFT_U16 && WEFT_I32 + 1 == WEFT_U32 &&
                  WEFT_I64 + 1 == WEFT_U64,
              "the unsigned type follows the signed one");

bool weft_can_combine(uint32_t element, uint32_t combiner) {
  return combiner >= WEFT_SUM && combiner <= WEFT_PROD && combination_of(element, combiner);
}

void weft_combine(uint32_t element, uint32_t combiner, const void *const *sources,
                  int32_t source_count, int64_t count, void *result) {
  combination_of(element, combiner)(combiner, sources, source_count, count, result);
}
