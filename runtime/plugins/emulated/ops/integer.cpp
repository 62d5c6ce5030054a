// Arithmetic, of integers where the type says so.
#include "runtime/plugins/emulated/ops/arithmetic.h"
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

template <class T> using bits_of_type = std::make_unsigned_t<T>;

struct add {
  template <class T> static T apply(T a, T b) { return T(bits_of_type<T>(a) + bits_of_type<T>(b)); }
};
struct sub {
  template <class T> static T apply(T a, T b) { return T(bits_of_type<T>(a) - bits_of_type<T>(b)); }
};
/// 16-bit numbers are multiplied as unsigned of 32: as int they could overflow.
template <class T> T product(T a, T b) {
  using wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return T(wide(a) * wide(b));
}
struct mul {
  template <class T> static T apply(T a, T b) { return product(a, b); }
};
struct mul_high {
  template <class T> static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return T((wide(a) * wide(b)) >> 64);
    } else {
      using wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return T((wide(a) * wide(b)) >> (8 * sizeof(T)));
    }
  }
};
struct divide {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return sub::apply<T>(0, a);
    return T(a / b);
  }
};
struct remain {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
struct smaller {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct larger {
  template <class T> static T apply(T a, T b) { return a < b ? b : a; }
};

template <class Op> void decode_two(decoder &d) {
  d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, bytes_of(d.out.t));
  d.source(1, bytes_of(d.out.t));
  d.source(2, bytes_of(d.out.t));
  d.set(pick_integer_two<Op>(d.out.t), unit::integer);
}

/// Two numbers of 16 bits in a register, as sm_90 has them.
template <class Op, class T> void pair_two(warp &w, const instruction &i) {
  map_two<T, 2>(w, i, [](T a, T b) { return Op::template apply<T>(a, b); });
}

template <class Op> void decode_pair_two(decoder &d, bool is_signed) {
  d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, 4);
  d.source(1, 4);
  d.source(2, 4);
  d.set(is_signed ? pair_two<Op, int16_t> : pair_two<Op, uint16_t>, unit::integer);
}

/// The operation that numbers of 16 bits have in pairs, too.
template <class Op> void decode_two_or_pair(decoder &d) {
  for (const std::string &part : d.written().opcode)
    if (part == "s16x2" || part == "u16x2")
      return decode_pair_two<Op>(d, part == "s16x2");
  decode_two<Op>(d);
}

/// Whether the first type is one of reals.
bool is_real(const decoder &d) {
  for (const std::string &part : d.written().opcode)
    if (std::optional<type> t = type_named(part))
      return is_float(*t);
  return false;
}

template <class N, class W> void wide_product(warp &w, const instruction &i) {
  W *d = w.lanes<W>(i.o[0]), *c = i.operands > 3 ? w.lanes<W>(i.o[3]) : nullptr;
  N *a = w.lanes<N>(i.o[1]), *b = w.lanes<N>(i.o[2]);
  using bits = bits_of_type<W>;
  each_lane(w.executing,
            [&](int k) { d[k] = W(bits(W(a[k])) * bits(W(b[k])) + (c ? bits(c[k]) : bits(0))); });
}

handler pick_wide(type t) {
  switch (t) {
  case type::s16:
    return wide_product<int16_t, int32_t>;
  case type::u16:
    return wide_product<uint16_t, uint32_t>;
  case type::s32:
    return wide_product<int32_t, int64_t>;
  case type::u32:
    return wide_product<uint32_t, uint64_t>;
  default:
    return nullptr;
  }
}

void decode_wide(decoder &d, size_t operands) {
  d.out.t = d.take_type();
  uint32_t width = bytes_of(d.out.t);
  d.need(operands, operands);
  d.destination(0, 2 * width);
  d.source(1, width);
  d.source(2, width);
  if (operands > 3)
    d.source(3, 2 * width);
  d.set(pick_wide(d.out.t), unit::integer);
}

template <class T> void multiply_add(warp &w, const instruction &i) {
  map_three<T, 1>(w, i, [](T a, T b, T c) { return add::apply<T>(product(a, b), c); });
}
template <class T> void multiply_high_add(warp &w, const instruction &i) {
  map_three<T, 1>(w, i, [](T a, T b, T c) { return add::apply<T>(mul_high::apply<T>(a, b), c); });
}

template <class T> handler pick_multiply_add(bool is_high) {
  return is_high ? multiply_high_add<T> : multiply_add<T>;
}

handler pick_mad(type t, bool is_high) {
  switch (t) {
  case type::s16:
    return pick_multiply_add<int16_t>(is_high);
  case type::u16:
    return pick_multiply_add<uint16_t>(is_high);
  case type::s32:
    return pick_multiply_add<int32_t>(is_high);
  case type::u32:
    return pick_multiply_add<uint32_t>(is_high);
  case type::s64:
    return pick_multiply_add<int64_t>(is_high);
  case type::u64:
    return pick_multiply_add<uint64_t>(is_high);
  default:
    return nullptr;
  }
}

template <class T, bool is_negation> void sign(warp &w, const instruction &i) {
  map_one<T, 1>(w, i, [](T a) { return is_negation || a < 0 ? sub::apply<T>(0, a) : a; });
}

template <bool is_negation> void decode_sign(decoder &d) {
  d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, bytes_of(d.out.t));
  d.source(1, bytes_of(d.out.t));
  d.set(d.out.t == type::s16   ? sign<int16_t, is_negation>
        : d.out.t == type::s32 ? sign<int32_t, is_negation>
        : d.out.t == type::s64 ? sign<int64_t, is_negation>
                               : handler(nullptr),
        unit::integer);
}

template <class T> void absolute_difference(warp &w, const instruction &i) {
  map_three<T, 1>(w, i, [](T a, T b, T c) {
    T difference = a < b ? sub::apply<T>(b, a) : sub::apply<T>(a, b);
    return add::apply<T>(c, difference);
  });
}

template <bool is_a_signed, bool is_b_signed> void dot(warp &w, const instruction &i) {
  map_three<uint32_t, 1>(w, i, [](uint32_t a, uint32_t b, uint32_t c) {
    for (int e = 0; e < 4; ++e) {
      uint32_t x = a >> (8 * e) & 255, y = b >> (8 * e) & 255;
      int32_t p = is_a_signed ? int8_t(x) : int32_t(x), q = is_b_signed ? int8_t(y) : int32_t(y);
      c += uint32_t(p * q);
    }
    return c;
  });
}

} // namespace

void decode_add(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::add);
  if (d.take("cc"))
    d.fail("carries are not supported");
  decode_two_or_pair<add>(d);
}

void decode_sub(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::sub);
  decode_two<sub>(d);
}

void decode_mul(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::mul);
  int part = d.take_one({"lo", "hi", "wide"});
  if (part == 2)
    return decode_wide(d, 3);
  part == 1 ? decode_two<mul_high>(d) : decode_two<mul>(d);
}

void decode_mad(decoder &d) {
  if (is_real(d))
    return decode_fma(d);
  int part = d.take_one({"lo", "hi", "wide"});
  if (part == 2)
    return decode_wide(d, 4);
  d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, bytes_of(d.out.t));
  for (size_t i = 1; i < 4; ++i)
    d.source(i, bytes_of(d.out.t));
  d.set(pick_mad(d.out.t, part == 1), unit::integer);
}

void decode_div(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::div);
  decode_two<divide>(d);
}

void decode_rem(decoder &d) { decode_two<remain>(d); }

void decode_min(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::min);
  decode_two_or_pair<smaller>(d);
}

void decode_max(decoder &d) {
  if (is_real(d))
    return decode_real_two(d, real_two::max);
  decode_two_or_pair<larger>(d);
}

void decode_neg(decoder &d) { is_real(d) ? decode_real_sign(d, true) : decode_sign<true>(d); }
void decode_abs(decoder &d) { is_real(d) ? decode_real_sign(d, false) : decode_sign<false>(d); }

void decode_sad(decoder &d) {
  d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, bytes_of(d.out.t));
  for (size_t i = 1; i < 4; ++i)
    d.source(i, bytes_of(d.out.t));
  d.set(d.out.t == type::s32   ? absolute_difference<int32_t>
        : d.out.t == type::u32 ? absolute_difference<uint32_t>
                               : handler(nullptr),
        unit::integer);
}

void decode_dot(decoder &d) {
  type a = d.take_type(), b = d.take_type();
  bool is_a = a == type::s32, is_b = b == type::s32;
  if ((!is_a && a != type::u32) || (!is_b && b != type::u32))
    d.fail_type(a);
  d.need(4, 4);
  d.destination(0, 4);
  for (size_t i = 1; i < 4; ++i)
    d.source(i, 4);
  d.set(is_a ? (is_b ? dot<true, true> : dot<true, false>)
             : (is_b ? dot<false, true> : dot<false, false>),
        unit::integer);
}

void decode_carry(decoder &d) { d.fail("carries are not supported"); }

} // namespace weft_emulated
