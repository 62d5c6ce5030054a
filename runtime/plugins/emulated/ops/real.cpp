// Arithmetic of reals: f32, f64, f16, bf16, and pairs of the last two.
#include "runtime/plugins/emulated/ops/arithmetic.h"
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

struct add {
  template <class T> static T apply(T a, T b) { return a + b; }
};
struct sub {
  template <class T> static T apply(T a, T b) { return a - b; }
};
struct mul {
  template <class T> static T apply(T a, T b) { return a * b; }
};
struct divide {
  template <class T> static T apply(T a, T b) { return a / b; }
};
/// -0 is smaller than 0; of a NaN and a number the number is taken.
struct smaller {
  template <class T> static T apply(T a, T b) {
    if (a != a)
      return b;
    return b != b || a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct larger {
  template <class T> static T apply(T a, T b) {
    if (a != a)
      return b;
    return b != b || a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};

template <class Op, class T, int L, int mode> void real(warp &w, const instruction &i) {
  using W = wide_of<T>;
  map_two<T, L>(w, i, [](T x, T y) {
    W a = W(x), b = W(y);
    if constexpr (mode & flush)
      a = flushed(a), b = flushed(b);
    if constexpr (mode & keep_nan)
      if (a != a || b != b)
        return with_one_nan(T(std::numeric_limits<W>::quiet_NaN()));
    return with_one_nan(T(finish_real<mode>(Op::template apply<W>(a, b))));
  });
}

template <class Op, int mode> handler pick_small(type t) {
  switch (t) {
  case type::f16:
    return real<Op, half, 1, mode>;
  case type::f16x2:
    return real<Op, half, 2, mode>;
  case type::bf16:
    return real<Op, brain, 1, mode>;
  case type::bf16x2:
    return real<Op, brain, 2, mode>;
  default:
    return nullptr;
  }
}

template <class Op> handler pick_two(type t, int mode) {
  if (t == type::f64)
    return mode & keep_nan ? nullptr : real<Op, double, 1, as_is>;
  if (t != type::f32) {
    mode &= ~flush; // subnormal halves are kept: LLVM asks for it nowhere
    return mode == as_is      ? pick_small<Op, as_is>(t)
           : mode == saturate ? pick_small<Op, saturate>(t)
           : mode == keep_nan ? pick_small<Op, keep_nan>(t)
                              : nullptr;
  }
  switch (mode) {
  case as_is:
    return real<Op, float, 1, as_is>;
  case flush:
    return real<Op, float, 1, flush>;
  case saturate:
    return real<Op, float, 1, saturate>;
  case flush | saturate:
    return real<Op, float, 1, flush | saturate>;
  case keep_nan:
    return real<Op, float, 1, keep_nan>;
  case flush | keep_nan:
    return real<Op, float, 1, flush | keep_nan>;
  default:
    return nullptr;
  }
}

int take_mode(decoder &d) {
  int mode = as_is;
  if (d.take("ftz"))
    mode |= flush;
  if (d.take("sat"))
    mode |= saturate;
  if (d.take("relu"))
    mode |= relu;
  if (d.take("NaN"))
    mode |= keep_nan;
  return mode;
}

template <class T> T fused(T a, T b, T c) { return std::fma(a, b, c); }

/// a * b + c of numbers whose product is exact, with the last bit set when the sum is not: it is rounded to fewer bits by whoever takes it.
inline double odd_fused(double a, double b, double c) {
  double product = a * b, sum = product + c;
  double rest = sum - product;
  double error = (product - (sum - rest)) + (c - rest);
  if (error == 0 || !std::isfinite(sum))
    return sum;
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (!(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : uint64_t(-1);
  std::memcpy(&sum, &bits, sizeof sum);
  return sum;
}

template <class T, int L, int mode> void multiply_add(warp &w, const instruction &i) {
  map_three<T, L>(w, i, [](T x, T y, T z) {
    if constexpr (is_small_real<T>) {
      double sum = odd_fused(float(x), float(y), float(z));
      return with_one_nan(T(finish_real<mode>(sum)));
    } else {
      if constexpr (mode & flush)
        return with_one_nan(finish_real<mode>(fused(flushed(x), flushed(y), flushed(z))));
      return with_one_nan(finish_real<mode>(fused(x, y, z)));
    }
  });
}

template <int mode> handler pick_small_fma(type t) {
  switch (t) {
  case type::f16:
    return multiply_add<half, 1, mode>;
  case type::f16x2:
    return multiply_add<half, 2, mode>;
  case type::bf16:
    return multiply_add<brain, 1, mode>;
  case type::bf16x2:
    return multiply_add<brain, 2, mode>;
  default:
    return nullptr;
  }
}

handler pick_fma(type t, int mode) {
  if (t == type::f64)
    return mode ? nullptr : multiply_add<double, 1, as_is>;
  if (t != type::f32)
    return mode == as_is      ? pick_small_fma<as_is>(t)
           : mode == saturate ? pick_small_fma<saturate>(t)
           : mode == relu     ? pick_small_fma<relu>(t)
                              : nullptr;
  return mode == as_is                ? multiply_add<float, 1, as_is>
         : mode == flush              ? multiply_add<float, 1, flush>
         : mode == saturate           ? multiply_add<float, 1, saturate>
         : mode == (flush | saturate) ? multiply_add<float, 1, flush | saturate>
                                      : nullptr;
}

/// The sign bit of a number of U's bits, for L of them; what is above `infinity` is a NaN, which becomes the one of real GPUs, or of 64 bits keeps
/// its own.
template <class U, int L, bool is_negation, U infinity> void sign(warp &w, const instruction &i) {
  map_one<U, L>(w, i, [](U a) {
    constexpr U bit = U(U(1) << (8 * sizeof(U) - 1)), all = U(~bit);
    bool is_nan = U(a & all) > infinity;
    if (is_nan && sizeof(U) < 8)
      return all;
    return is_negation ? U(is_nan ? a : a ^ bit) : U(a & all);
  });
}

template <bool is_negation> handler pick_sign(type t) {
  constexpr uint16_t half_infinity = 0x7c00, brain_infinity = 0x7f80;
  switch (t) {
  case type::f64:
    return sign<uint64_t, 1, is_negation, 0x7ff0000000000000>;
  case type::f32:
    return sign<uint32_t, 1, is_negation, 0x7f800000>;
  case type::f16:
    return sign<uint16_t, 1, is_negation, half_infinity>;
  case type::bf16:
    return sign<uint16_t, 1, is_negation, brain_infinity>;
  case type::f16x2:
    return sign<uint16_t, 2, is_negation, half_infinity>;
  case type::bf16x2:
    return sign<uint16_t, 2, is_negation, brain_infinity>;
  default:
    return nullptr;
  }
}

void refuse_rounding(decoder &d) {
  if (d.take_one({"rz", "rm", "rp"}) >= 0)
    d.fail("only rounding to the nearest is supported here");
  d.take("rn");
}

} // namespace

void decode_real_two(decoder &d, real_two which) {
  refuse_rounding(d);
  bool is_rough = which == real_two::div && d.take_one({"approx", "full"}) >= 0;
  (void)is_rough; // computed exactly: docs/emulated-gpu.md says what that hides
  int mode = take_mode(d);
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  for (size_t i = 0; i < 3; ++i)
    i ? d.source(i, bytes_of(t)) : d.destination(i, bytes_of(t));
  static constexpr handler (*pick[])(type, int) = {pick_two<add>,     pick_two<sub>,
                                                   pick_two<mul>,     pick_two<divide>,
                                                   pick_two<smaller>, pick_two<larger>};
  d.set(mode & relu ? nullptr : pick[size_t(which)](t, mode), unit::real);
}

void decode_real_sign(decoder &d, bool is_negation) {
  d.take("ftz");
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.set(is_negation ? pick_sign<true>(t) : pick_sign<false>(t), unit::real);
}

void decode_fma(decoder &d) {
  refuse_rounding(d);
  int mode = take_mode(d);
  type t = d.out.t = d.take_type();
  if (!is_float(t))
    d.fail_type(t);
  d.need(4, 4);
  d.destination(0, bytes_of(t));
  for (size_t i = 1; i < 4; ++i)
    d.source(i, bytes_of(t));
  d.set(pick_fma(t, mode), unit::real);
}

} // namespace weft_emulated
