// Bits: logic, shifts, fields, counts.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

struct both {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct either {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct differ {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};

template <class Op> void predicates(warp &w, const instruction &i) {
  w.set_mask(i.o[0], Op::template apply<uint32_t>(w.truth(i.o[1]), w.truth(i.o[2])));
}

template <class Op> void decode_logic(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  if (t == type::pred) {
    d.predicate_destination(0);
    d.predicate_source(1);
    d.predicate_source(2);
    return d.set(predicates<Op>, unit::integer);
  }
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  d.set(pick_integer_two<Op>(t), unit::integer);
}

template <class T> void invert(warp &w, const instruction &i) {
  map_one<T, 1>(w, i, [](T a) { return T(~a); });
}
template <class T> void is_zero(warp &w, const instruction &i) {
  map_one<T, 1>(w, i, [](T a) { return T(a == 0); });
}
void invert_predicate(warp &w, const instruction &i) { w.set_mask(i.o[0], ~w.truth(i.o[1])); }

handler by_width(uint32_t width, handler two, handler four, handler eight) {
  return width == 2 ? two : width == 4 ? four : width == 8 ? eight : nullptr;
}

template <class T, bool is_left> void shift(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]);
  uint32_t *by = w.lanes<uint32_t>(i.o[2]);
  constexpr uint32_t width = 8 * sizeof(T);
  each_lane(w.executing, [&](int k) {
    if (by[k] >= width)
      d[k] = !is_left && a[k] < 0 ? T(-1) : T(0);
    else
      d[k] = is_left ? T(std::make_unsigned_t<T>(a[k]) << by[k]) : T(a[k] >> by[k]);
  });
}

template <bool is_left> handler pick_shift(type t) {
  switch (t) {
  case type::b16:
  case type::u16:
    return shift<uint16_t, is_left>;
  case type::b32:
  case type::u32:
    return shift<uint32_t, is_left>;
  case type::b64:
  case type::u64:
    return shift<uint64_t, is_left>;
  case type::s16:
    return shift<int16_t, is_left>;
  case type::s32:
    return shift<int32_t, is_left>;
  case type::s64:
    return shift<int64_t, is_left>;
  default:
    return nullptr;
  }
}

template <bool is_left> void decode_shift(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, 4);
  d.set(pick_shift<is_left>(t), unit::integer);
}

template <bool is_left, bool wraps> void funnel(warp &w, const instruction &i) {
  uint32_t *d = w.lanes<uint32_t>(i.o[0]), *low = w.lanes<uint32_t>(i.o[1]);
  uint32_t *high = w.lanes<uint32_t>(i.o[2]), *by = w.lanes<uint32_t>(i.o[3]);
  each_lane(w.executing, [&](int k) {
    uint32_t n = wraps ? by[k] & 31 : std::min(by[k], 32u);
    uint64_t both = low[k] | uint64_t(high[k]) << 32;
    d[k] = is_left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
  });
}

template <class T> void extract(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]);
  uint32_t *at = w.lanes<uint32_t>(i.o[2]), *size = w.lanes<uint32_t>(i.o[3]);
  constexpr uint32_t width = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  each_lane(w.executing, [&](int k) {
    uint32_t begin = at[k] & 255, length = size[k] & 255;
    U fill = std::is_signed_v<T> && a[k] < 0 ? U(-1) : U(0);
    U value = begin < width ? U(a[k]) >> begin : fill;
    if (begin && begin < width)
      value |= fill << (width - begin);
    if (length == 0)
      value = 0;
    else if (length < width) {
      U mask = (U(1) << length) - 1;
      uint32_t top = std::min(begin + length - 1, width - 1);
      bool is_negative = std::is_signed_v<T> && (U(a[k]) >> top & 1);
      value = (value & mask) | (is_negative ? U(~mask) : U(0));
    }
    d[k] = T(value);
  });
}

template <class T> void insert(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]), *into = w.lanes<T>(i.o[2]);
  uint32_t *at = w.lanes<uint32_t>(i.o[3]), *size = w.lanes<uint32_t>(i.o[4]);
  constexpr uint32_t width = 8 * sizeof(T);
  each_lane(w.executing, [&](int k) {
    uint32_t begin = at[k] & 255, length = size[k] & 255;
    T mask = length >= width ? T(-1) : T((T(1) << length) - 1);
    mask = begin < width ? T(mask << begin) : T(0);
    T moved = begin < width ? T(a[k] << begin) : T(0);
    d[k] = (into[k] & ~mask) | (moved & mask);
  });
}

template <class T> void find_bit(warp &w, const instruction &i) {
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  T *a = w.lanes<T>(i.o[1]);
  constexpr uint32_t width = 8 * sizeof(T);
  each_lane(w.executing, [&](int k) {
    uint64_t bits = std::make_unsigned_t<T>(a[k] < 0 ? ~a[k] : a[k]);
    d[k] = bits ? 63 - uint32_t(__builtin_clzll(bits)) : ~0u;
    if (i.mode && bits)
      d[k] = width - 1 - d[k];
  });
}

void bit_mask(warp &w, const instruction &i) {
  map_two<uint32_t, 1>(w, i, [&](uint32_t at, uint32_t size) {
    if (i.mode)
      at &= 31, size &= 31;
    uint32_t mask = size >= 32 ? ~0u : (1u << size) - 1;
    return at >= 32 ? 0 : mask << at;
  });
}

void look_up(warp &w, const instruction &i) {
  map_three<uint32_t, 1>(w, i, [&](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result = 0;
    for (uint32_t row = 0; row < 8; ++row)
      if (i.n >> row & 1)
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
  });
}

void permute(warp &w, const instruction &i) {
  map_three<uint32_t, 1>(w, i, [](uint32_t a, uint32_t b, uint32_t choice) {
    uint64_t bytes = a | uint64_t(b) << 32;
    uint32_t result = 0;
    for (int e = 0; e < 4; ++e) {
      uint32_t picked = choice >> (4 * e) & 15;
      uint32_t byte = uint32_t(bytes >> (8 * (picked & 7))) & 255;
      if (picked & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * e);
    }
    return result;
  });
}

template <class T> void population(warp &w, const instruction &i) {
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  T *a = w.lanes<T>(i.o[1]);
  each_lane(w.executing, [&](int k) { d[k] = uint32_t(__builtin_popcountll(a[k])); });
}
template <class T> void leading_zeros(warp &w, const instruction &i) {
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  T *a = w.lanes<T>(i.o[1]);
  constexpr uint32_t width = 8 * sizeof(T);
  each_lane(w.executing,
            [&](int k) { d[k] = a[k] ? uint32_t(__builtin_clzll(a[k])) - (64 - width) : width; });
}
template <class T> void reverse(warp &w, const instruction &i) {
  map_one<T, 1>(w, i, [](T a) {
    T result = 0;
    for (uint32_t e = 0; e < 8 * sizeof(T); ++e)
      result |= T(a >> e & 1) << (8 * sizeof(T) - 1 - e);
    return result;
  });
}

void decode_count(decoder &d, handler four, handler eight, bool is_narrow) {
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, is_narrow ? 4 : bytes_of(t));
  d.source(1, bytes_of(t));
  d.set(by_width(bytes_of(t), nullptr, four, eight), unit::integer);
}

} // namespace

void decode_and(decoder &d) { decode_logic<both>(d); }
void decode_or(decoder &d) { decode_logic<either>(d); }
void decode_xor(decoder &d) { decode_logic<differ>(d); }

void decode_not(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  if (t == type::pred) {
    d.predicate_destination(0);
    d.predicate_source(1);
    return d.set(invert_predicate, unit::integer);
  }
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.set(by_width(bytes_of(t), invert<uint16_t>, invert<uint32_t>, invert<uint64_t>), unit::integer);
}

void decode_cnot(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.set(by_width(bytes_of(t), is_zero<uint16_t>, is_zero<uint32_t>, is_zero<uint64_t>),
        unit::integer);
}

void decode_shl(decoder &d) { decode_shift<true>(d); }
void decode_shr(decoder &d) { decode_shift<false>(d); }

void decode_shf(decoder &d) {
  bool is_left = d.take("l");
  if (!is_left && !d.take("r"))
    d.fail("a direction is expected");
  bool wraps = d.take("wrap");
  d.take("clamp");
  d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, 4);
  for (size_t i = 1; i < 4; ++i)
    d.source(i, 4);
  d.set(is_left ? (wraps ? funnel<true, true> : funnel<true, false>)
                : (wraps ? funnel<false, true> : funnel<false, false>),
        unit::integer);
}

void decode_bfe(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, 4);
  d.source(3, 4);
  d.set(t == type::u32   ? extract<uint32_t>
        : t == type::s32 ? extract<int32_t>
        : t == type::u64 ? extract<uint64_t>
        : t == type::s64 ? extract<int64_t>
                         : handler(nullptr),
        unit::integer);
}

void decode_bfi(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(5, 5);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  d.source(3, 4);
  d.source(4, 4);
  d.set(by_width(bytes_of(t), nullptr, insert<uint32_t>, insert<uint64_t>), unit::integer);
}

void decode_bfind(decoder &d) {
  d.out.mode = d.take("shiftamt");
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  d.destination(0, 4);
  d.source(1, bytes_of(t));
  d.set(t == type::u32   ? find_bit<uint32_t>
        : t == type::s32 ? find_bit<int32_t>
        : t == type::u64 ? find_bit<uint64_t>
        : t == type::s64 ? find_bit<int64_t>
                         : handler(nullptr),
        unit::integer);
}

void decode_bmsk(decoder &d) {
  d.out.mode = d.take("wrap");
  d.take("clamp");
  d.out.t = d.take_type();
  d.need(3, 3);
  d.destination(0, 4);
  d.source(1, 4);
  d.source(2, 4);
  d.set(bit_mask, unit::integer);
}

void decode_lop3(decoder &d) {
  d.out.t = d.take_type();
  d.need(5, 5);
  d.destination(0, 4);
  for (size_t i = 1; i < 4; ++i)
    d.source(i, 4);
  d.out.n = int32_t(d.immediate(4) & 255);
  d.set(look_up, unit::integer);
}

void decode_prmt(decoder &d) {
  d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, 4);
  for (size_t i = 1; i < 4; ++i)
    d.source(i, 4);
  d.set(permute, unit::integer);
}

void decode_popc(decoder &d) { decode_count(d, population<uint32_t>, population<uint64_t>, true); }
void decode_clz(decoder &d) {
  decode_count(d, leading_zeros<uint32_t>, leading_zeros<uint64_t>, true);
}
void decode_brev(decoder &d) { decode_count(d, reverse<uint32_t>, reverse<uint64_t>, false); }

} // namespace weft_emulated
