// Loops over the lanes of a warp, and the types of their elements.
#ifndef WEFT_EMULATED_OPS_LANES_H
#define WEFT_EMULATED_OPS_LANES_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

using half = _Float16;

/// A value's nearest float with the last bit set when it is not exact: rounding that to fewer bits is as good as rounding the value.
inline float odd_float(double value) {
  float rounded = float(value);
  if (double(rounded) == value || !std::isfinite(rounded))
    return rounded;
  uint32_t bits;
  std::memcpy(&bits, &rounded, 4);
  if (!(bits & 1)) {
    bool is_below = std::fabs(double(rounded)) < std::fabs(value);
    bits += is_below ? 1 : uint32_t(-1);
  }
  std::memcpy(&rounded, &bits, 4);
  return rounded;
}

struct brain {
  uint16_t bits;
  brain() = default;
  explicit brain(float value) {
    uint32_t all;
    std::memcpy(&all, &value, 4);
    bits = value != value ? 0x7fff : uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  explicit brain(double value) : brain(odd_float(value)) {}
  explicit operator float() const {
    uint32_t all = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &all, 4);
    return value;
  }
  explicit operator double() const { return double(float(*this)); }
};

template <class T> constexpr bool is_integer = std::is_integral_v<T>;
template <class T>
constexpr bool is_small_real = std::is_same_v<T, half> || std::is_same_v<T, brain>;
/// What a real is computed in.
template <class T> using wide_of = std::conditional_t<is_small_real<T>, float, T>;

/// A NaN of 32 or 16 bits that was computed is the same one on real GPUs, whatever its operands were: all bits but the sign. Of 64 bits it is an
/// operand's.
template <class T> inline T with_one_nan(T value) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr uint32_t bits = 0x7fffffff;
    float nan;
    std::memcpy(&nan, &bits, 4);
    return value != value ? nan : value;
  } else if constexpr (std::is_same_v<T, half>) {
    constexpr uint16_t bits = 0x7fff;
    half nan;
    std::memcpy(&nan, &bits, 2);
    return value != value ? nan : value;
  } else {
    return value; // a brain is made with it
  }
}

template <class T> inline T flushed(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.f, value) : value;
  else
    return value;
}

/// d = f(a), L elements a lane.
template <class T, int L, class F> inline void map_one(warp &w, const instruction &i, F f) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]);
  if (w.executing == all_lanes) {
    for (int k = 0; k < 32 * L; ++k)
      d[k] = f(a[k]);
    return;
  }
  each_lane(w.executing, [&](int k) {
    for (int e = 0; e < L; ++e)
      d[k * L + e] = f(a[k * L + e]);
  });
}

template <class T, int L, class F> inline void map_two(warp &w, const instruction &i, F f) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]), *b = w.lanes<T>(i.o[2]);
  if (w.executing == all_lanes) {
#pragma clang loop vectorize(assume_safety)
    for (int k = 0; k < 32 * L; ++k)
      d[k] = f(a[k], b[k]);
    return;
  }
  each_lane(w.executing, [&](int k) {
    for (int e = 0; e < L; ++e)
      d[k * L + e] = f(a[k * L + e], b[k * L + e]);
  });
}

template <class T, int L, class F> inline void map_three(warp &w, const instruction &i, F f) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]), *b = w.lanes<T>(i.o[2]);
  T *c = w.lanes<T>(i.o[3]);
  if (w.executing == all_lanes) {
#pragma clang loop vectorize(assume_safety)
    for (int k = 0; k < 32 * L; ++k)
      d[k] = f(a[k], b[k], c[k]);
    return;
  }
  each_lane(w.executing, [&](int k) {
    for (int e = 0; e < L; ++e)
      d[k * L + e] = f(a[k * L + e], b[k * L + e], c[k * L + e]);
  });
}

/// A handler for each integer type: Op::apply<T>(a, b).
template <class Op, class T> void integer_two(warp &w, const instruction &i) {
  map_two<T, 1>(w, i, [](T a, T b) { return Op::template apply<T>(a, b); });
}

template <class Op> handler pick_integer_two(type t) {
  switch (t) {
  case type::s16:
    return integer_two<Op, int16_t>;
  case type::u16:
  case type::b16:
    return integer_two<Op, uint16_t>;
  case type::s32:
    return integer_two<Op, int32_t>;
  case type::u32:
  case type::b32:
    return integer_two<Op, uint32_t>;
  case type::s64:
    return integer_two<Op, int64_t>;
  case type::u64:
  case type::b64:
    return integer_two<Op, uint64_t>;
  default:
    return nullptr;
  }
}

/// What a modifier does to operands and results of reals: bits of a template's parameter.
enum real_mode : int { as_is = 0, flush = 1, saturate = 2, relu = 4, keep_nan = 8 };

template <int mode, class T> inline T finish_real(T value) {
  if constexpr (mode & flush)
    value = flushed(value);
  if constexpr (mode & saturate)
    value = value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
  if constexpr (mode & relu)
    value = value > T(0) || value != value ? value : T(0);
  return value;
}

} // namespace weft_emulated

#endif
