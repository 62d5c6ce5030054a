// Comparisons and what is chosen by them.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

enum comparison : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum combination : uint8_t { alone, with_and, with_or, with_xor };

template <class T, class F> uint32_t bits_where(warp &w, const instruction &i, F f) {
  using W = wide_of<T>;
  T *a = w.lanes<T>(i.o[2]), *b = w.lanes<T>(i.o[3]);
  uint32_t result = 0;
  for (int k = 0; k < 32; ++k)
    result |= uint32_t(f(W(a[k]), W(b[k]))) << k;
  return result;
}

template <class T> uint32_t compare(warp &w, const instruction &i) {
  using W = wide_of<T>;
  switch (i.mode) {
  case eq:
    return bits_where<T>(w, i, [](W a, W b) { return a == b; });
  case ne:
    return bits_where<T>(w, i, [](W a, W b) { return a < b || a > b; });
  case lt:
    return bits_where<T>(w, i, [](W a, W b) { return a < b; });
  case le:
    return bits_where<T>(w, i, [](W a, W b) { return a <= b; });
  case gt:
    return bits_where<T>(w, i, [](W a, W b) { return a > b; });
  case ge:
    return bits_where<T>(w, i, [](W a, W b) { return a >= b; });
  case equ:
    return bits_where<T>(w, i, [](W a, W b) { return !(a < b || a > b); });
  case neu:
    return bits_where<T>(w, i, [](W a, W b) { return !(a == b); });
  case ltu:
    return bits_where<T>(w, i, [](W a, W b) { return !(a >= b); });
  case leu:
    return bits_where<T>(w, i, [](W a, W b) { return !(a > b); });
  case gtu:
    return bits_where<T>(w, i, [](W a, W b) { return !(a <= b); });
  case geu:
    return bits_where<T>(w, i, [](W a, W b) { return !(a < b); });
  case num:
    return bits_where<T>(w, i, [](W a, W b) { return a == a && b == b; });
  default:
    return bits_where<T>(w, i, [](W a, W b) { return !(a == a && b == b); });
  }
}

template <class T> void set_predicates(warp &w, const instruction &i) {
  uint32_t is = compare<T>(w, i), is_not = ~is;
  if (i.mode2 != alone) {
    uint32_t other = w.truth(i.o[4]);
    auto combine = [&](uint32_t a) {
      return i.mode2 == with_and ? a & other : i.mode2 == with_or ? a | other : a ^ other;
    };
    is = combine(is), is_not = combine(is_not);
  }
  w.set_mask(i.o[0], is);
  w.set_mask(i.o[1], is_not);
}

/// 1.0 for a type of reals, all bits for one of integers.
template <class T> void set_value(warp &w, const instruction &i) {
  uint32_t is = compare<T>(w, i);
  if (i.mode2 != alone) {
    uint32_t other = w.truth(i.o[4]);
    is = i.mode2 == with_and ? is & other : i.mode2 == with_or ? is | other : is ^ other;
  }
  uint32_t *d = w.lanes<uint32_t>(i.o[0]);
  uint32_t yes = i.t == type::f32 ? 0x3f800000u : ~0u;
  each_lane(w.executing, [&](int k) { d[k] = is >> k & 1 ? yes : 0; });
}

/// Pairs of halves give two predicates, one for each part.
template <class T> void set_pair(warp &w, const instruction &i) {
  for (int part = 0; part < 2; ++part) {
    T low[32], high[32];
    T *a = w.lanes<T>(i.o[2]), *b = w.lanes<T>(i.o[3]);
    for (int k = 0; k < 32; ++k)
      low[k] = a[2 * k + part], high[k] = b[2 * k + part];
    uint32_t result = 0;
    for (int k = 0; k < 32; ++k) {
      float x = float(low[k]), y = float(high[k]);
      bool is_ordered = x == x && y == y;
      uint8_t plain = i.mode >= equ && i.mode <= geu ? uint8_t(i.mode - equ) : i.mode;
      bool holds = plain == eq   ? x == y
                   : plain == ne ? x != y
                   : plain == lt ? x < y
                   : plain == le ? x <= y
                   : plain == gt ? x > y
                   : plain == ge ? x >= y
                                 : plain == num;
      if (!is_ordered)
        holds = (i.mode >= equ && i.mode <= geu) || i.mode == nan;
      result |= uint32_t(holds) << k;
    }
    w.set_mask(i.o[part], result);
  }
}

handler pick_set(type t, bool is_value) {
  switch (t) {
  case type::s16:
    return is_value ? set_value<int16_t> : set_predicates<int16_t>;
  case type::u16:
  case type::b16:
    return is_value ? set_value<uint16_t> : set_predicates<uint16_t>;
  case type::s32:
    return is_value ? set_value<int32_t> : set_predicates<int32_t>;
  case type::u32:
  case type::b32:
    return is_value ? set_value<uint32_t> : set_predicates<uint32_t>;
  case type::s64:
    return is_value ? set_value<int64_t> : set_predicates<int64_t>;
  case type::u64:
  case type::b64:
    return is_value ? set_value<uint64_t> : set_predicates<uint64_t>;
  case type::f32:
    return is_value ? set_value<float> : set_predicates<float>;
  case type::f64:
    return is_value ? set_value<double> : set_predicates<double>;
  case type::f16:
    return is_value ? set_value<half> : set_predicates<half>;
  case type::bf16:
    return is_value ? set_value<brain> : set_predicates<brain>;
  case type::f16x2:
    return is_value ? nullptr : set_pair<half>;
  case type::bf16x2:
    return is_value ? nullptr : set_pair<brain>;
  default:
    return nullptr;
  }
}

void take_comparison(decoder &d) {
  int which = d.take_one({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
                          "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (which < 0)
    d.fail("a comparison is expected");
  static constexpr uint8_t of_unsigned[] = {lt, le, gt, ge};
  d.out.mode = which > nan ? of_unsigned[which - nan - 1] : uint8_t(which);
  d.out.mode2 = uint8_t(d.take_one({"and", "or", "xor"}) + 1);
  d.take("ftz");
}

template <class T> void choose(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]), *b = w.lanes<T>(i.o[2]);
  uint32_t truth = w.truth(i.o[3]);
  each_lane(w.executing, [&](int k) { d[k] = truth >> k & 1 ? a[k] : b[k]; });
}

template <class T, class C> void choose_by_sign(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]), *b = w.lanes<T>(i.o[2]);
  C *c = w.lanes<C>(i.o[3]);
  each_lane(w.executing, [&](int k) { d[k] = c[k] >= 0 ? a[k] : b[k]; });
}

} // namespace

void decode_setp(decoder &d) {
  take_comparison(d);
  type t = d.out.t = d.take_type();
  d.need(3, 4);
  if (d.text(0).kind == operand_text::pair)
    d.predicate_pair(0);
  else
    d.predicate_destination(0), d.nothing();
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  if ((d.out.mode2 != alone) != (d.count() == 4))
    d.fail("the number of operands does not fit the combination");
  if (d.count() == 4)
    d.predicate_source(3);
  d.set(pick_set(t, false), unit::integer);
}

void decode_set(decoder &d) {
  take_comparison(d);
  d.out.t = d.take_type();
  if (bytes_of(d.out.t) != 4)
    d.fail_type(d.out.t);
  type from = d.out.from = d.take_type();
  d.need(3, 4);
  d.destination(0, 4);
  d.nothing();
  d.source(1, bytes_of(from));
  d.source(2, bytes_of(from));
  if ((d.out.mode2 != alone) != (d.count() == 4))
    d.fail("the number of operands does not fit the combination");
  if (d.count() == 4)
    d.predicate_source(3);
  d.set(pick_set(from, true), unit::integer);
}

void decode_selp(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(4, 4);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  d.predicate_source(3);
  uint32_t width = bytes_of(t);
  d.set(width == 2   ? choose<uint16_t>
        : width == 4 ? choose<uint32_t>
        : width == 8 ? choose<uint64_t>
                     : handler(nullptr),
        unit::integer);
}

void decode_slct(decoder &d) {
  d.take("ftz");
  type t = d.out.t = d.take_type(), by = d.take_type();
  d.need(4, 4);
  d.destination(0, bytes_of(t));
  d.source(1, bytes_of(t));
  d.source(2, bytes_of(t));
  d.source(3, 4);
  bool is_wide = bytes_of(t) == 8;
  if (bytes_of(t) != 4 && !is_wide)
    d.fail_type(t);
  if (by == type::s32)
    d.set(is_wide ? choose_by_sign<uint64_t, int32_t> : choose_by_sign<uint32_t, int32_t>,
          unit::integer);
  else if (by == type::f32)
    d.set(is_wide ? choose_by_sign<uint64_t, float> : choose_by_sign<uint32_t, float>,
          unit::integer);
}

} // namespace weft_emulated
