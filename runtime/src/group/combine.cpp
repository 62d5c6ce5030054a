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

/// result = a op b, elements A. All three may be the same memory.
template <class A, class Op>
static void combine_two(const void *a, const void *b, int64_t count, void *result) {
  typedef A vector __attribute__((vector_size(vector_bytes)));
  constexpr int64_t lanes = vector_bytes / (int64_t)sizeof(A);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    vector x, y;
    memcpy(&x, (const A *)a + i, sizeof x);
    memcpy(&y, (const A *)b + i, sizeof y);
    x = Op::of(x, y);
    memcpy((A *)result + i, &x, sizeof x);
  }
  for (; i < count; ++i)
    ((A *)result)[i] = Op::of(((const A *)a)[i], ((const A *)b)[i]);
}

using combine_fn = void (*)(const void *, const void *, int64_t, void *);

template <class A> static combine_fn combination(uint32_t combiner) {
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

using convert_fn = void (*)(const void *, int64_t, void *);

/// Elements T that are combined as A.
template <class A, class T, class Convert>
static void widen_all(const void *__restrict from, int64_t count, void *__restrict to) {
  for (int64_t i = 0; i < count; ++i)
    ((A *)to)[i] = Convert::widen(((const T *)from)[i]);
}
template <class A, class T, class Convert>
static void narrow_all(const void *__restrict from, int64_t count, void *__restrict to) {
  for (int64_t i = 0; i < count; ++i)
    ((T *)to)[i] = Convert::narrow(((const A *)from)[i]);
}

namespace {
/// How elements of a type are combined.
struct method {
  combine_fn (*combination)(uint32_t combiner); ///< NULL: they are not
  int64_t bytes;                                ///< of an element as it is stored
  convert_fn widen, narrow;                     ///< NULL: they are combined as they are
};
} // namespace

template <class A> static method as_they_are() {
  return {combination<A>, (int64_t)sizeof(A), nullptr, nullptr};
}

template <class A, class T, class Convert = plain<A, T>> static method widened() {
  return {combination<A>, (int64_t)sizeof(T), widen_all<A, T, Convert>, narrow_all<A, T, Convert>};
}

/// The last step alone writes the result, which may be any of the sources.
static void combine_stored(int64_t bytes, combine_fn combine, const uint8_t *const *sources,
                           int32_t source_count, int64_t count, uint8_t *result) {
  uint64_t tile[tile_elements];
  for (int64_t at = 0; at < count; at += tile_elements) {
    int64_t size = count - at < tile_elements ? count - at : tile_elements;
    const void *sum = sources[0] + at * bytes;
    for (int32_t s = 1; s < source_count; ++s) {
      void *to = s + 1 == source_count ? (void *)(result + at * bytes) : tile;
      combine(sum, sources[s] + at * bytes, size, to);
      sum = to;
    }
    if (source_count == 1)
      memmove(result + at * bytes, sum, (size_t)(size * bytes));
  }
}

static void combine_widened(const method &how, combine_fn combine, const uint8_t *const *sources,
                            int32_t source_count, int64_t count, uint8_t *result) {
  uint64_t tile[tile_elements], next[tile_elements];
  for (int64_t at = 0; at < count; at += tile_elements) {
    int64_t size = count - at < tile_elements ? count - at : tile_elements;
    how.widen(sources[0] + at * how.bytes, size, tile);
    for (int32_t s = 1; s < source_count; ++s) {
      how.widen(sources[s] + at * how.bytes, size, next);
      combine(tile, next, size, tile);
    }
    how.narrow(tile, size, result + at * how.bytes);
  }
}

/// Sums and products of integers wrap around, for which the sign does not matter; extremes need it.
static method method_of(uint32_t element, uint32_t combiner) {
  bool is_signed =
      element == WEFT_I8 || element == WEFT_I16 || element == WEFT_I32 || element == WEFT_I64;
  bool is_extreme = combiner == WEFT_MAX || combiner == WEFT_MIN;
  switch (is_signed && !is_extreme ? element + 1 : element) {
  case WEFT_F32:
    return as_they_are<float>();
  case WEFT_F64:
    return as_they_are<double>();
  case WEFT_F16:
    return widened<float, uint16_t, f16>();
  case WEFT_BF16:
    return widened<float, uint16_t, bf16>();
  case WEFT_I8:
    return widened<int64_t, int8_t>();
  case WEFT_I16:
    return widened<int64_t, int16_t>();
  case WEFT_I32:
    return widened<int64_t, int32_t>();
  case WEFT_I64:
    return as_they_are<int64_t>();
  case WEFT_BOOL:
    return is_extreme ? widened<uint64_t, uint8_t>() : method();
  case WEFT_U8:
    return widened<uint64_t, uint8_t>();
  case WEFT_U16:
    return widened<uint64_t, uint16_t>();
  case WEFT_U32:
    return widened<uint64_t, uint32_t>();
  case WEFT_U64:
    return as_they_are<uint64_t>();
  default:
    return {};
  }
}
static_assert(WEFT_I8 + 1 == WEFT_U8 && WEFT_I16 + 1 == WEFT_U16 && WEFT_I32 + 1 == WEFT_U32 &&
                  WEFT_I64 + 1 == WEFT_U64,
              "the unsigned type follows the signed one");

bool weft_can_combine(uint32_t element, uint32_t combiner) {
  return combiner >= WEFT_SUM && combiner <= WEFT_PROD && method_of(element, combiner).combination;
}

void weft_combine(uint32_t element, uint32_t combiner, const void *const *sources,
                  int32_t source_count, int64_t count, void *result) {
  method how = method_of(element, combiner);
  combine_fn combine = how.combination(combiner);
  const uint8_t *const *bytes = (const uint8_t *const *)sources;
  if (how.widen)
    combine_widened(how, combine, bytes, source_count, count, (uint8_t *)result);
  else
    combine_stored(how.bytes, combine, bytes, source_count, count, (uint8_t *)result);
}
