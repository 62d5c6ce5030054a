// cvt: from every type to every other.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

enum rounding : uint8_t {
  nearest,
  to_zero,
  integer_nearest,
  integer_zero,
  integer_down,
  integer_up,
  down,
  up
};
constexpr uint8_t is_saturated = 1, is_flushed = 2;

template <class T> T read_lane(warp &w, const operand &o, int lane) {
  T value;
  std::memcpy(&value, w.registers + o.slot + size_t(lane) * o.width, sizeof value);
  return value;
}

/// A register that is wider than the value gets its sign, or zeros.
template <class T> void write_lane(warp &w, const operand &o, int lane, T value) {
  uint8_t *place = w.registers + o.slot + size_t(lane) * o.width;
  if (o.width == sizeof value) {
    std::memcpy(place, &value, sizeof value);
    return;
  }
  int64_t wide = 0;
  if constexpr (is_integer<T>)
    wide = int64_t(value);
  else
    std::memcpy(&wide, &value, sizeof value);
  std::memcpy(place, &wide, std::min<size_t>(o.width, 8));
}

double rounded(double value, uint8_t how) {
  switch (how) {
  case integer_zero:
  case to_zero:
    return std::trunc(value);
  case integer_down:
  case down:
    return std::floor(value);
  case integer_up:
  case up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// Of a NaN: 0, or of 64 bits, on either side, the upper bit of the result.
template <class S, class D> D integer_of(double value) {
  constexpr bool is_wide = sizeof(S) == 8 || sizeof(D) == 8;
  if (value != value)
    return is_wide ? D(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1)) : D(0);
  constexpr double low = double(std::numeric_limits<D>::min());
  constexpr double high = double(std::numeric_limits<D>::max());
  if (value <= low)
    return std::numeric_limits<D>::min();
  return value >= high ? std::numeric_limits<D>::max() : D(value);
}

template <class S, class D> D integer_from_integer(S value, bool saturates) {
  if (!saturates)
    return D(value);
  __int128 wide = value;
  wide = std::max<__int128>(wide, std::numeric_limits<D>::min());
  return D(std::min<__int128>(wide, std::numeric_limits<D>::max()));
}

/// Towards 0, or the direction that the mode says, of a value that has too many bits for D.
template <class D> D directed(double value, uint8_t how) {
  D near = D(value);
  double back = double(wide_of<D>(near));
  bool is_up = back > value, is_down = back < value;
  bool wants_down = how == down || (how == to_zero && value > 0);
  bool wants_up = how == up || (how == to_zero && value < 0);
  if (!(is_up && wants_down) && !(is_down && wants_up))
    return near;
  using U = std::conditional_t<sizeof(D) == 2, uint16_t,
                               std::conditional_t<sizeof(D) == 4, uint32_t, uint64_t>>;
  U bits;
  std::memcpy(&bits, &near, sizeof bits);
  bool grows = (back > 0) == is_down; // in magnitude
  bits = grows ? U(bits + 1) : U(bits - 1);
  std::memcpy(&near, &bits, sizeof bits);
  return near;
}

template <class S, class D> D real_of(S value, const instruction &i) {
  if constexpr (is_integer<S>) {
    if constexpr (std::is_same_v<D, double> || std::is_same_v<D, float>)
      return D(value);
    else
      return D(sizeof(S) < 8 ? double(value) : double(odd_float(double(value))));
  } else {
    double wide = double(wide_of<S>(value));
    if constexpr (!std::is_same_v<S, double>) // whose bits are kept
      if (wide != wide && !(i.mode2 & is_saturated))
        return with_one_nan(D(wide));
    if (i.mode2 & is_flushed)
      wide = std::is_same_v<S, float> ? double(flushed(float(wide))) : wide;
    if (i.mode >= integer_nearest && i.mode <= integer_up)
      wide = rounded(wide, i.mode);
    if (i.mode2 & is_saturated)
      wide = wide > 0 ? std::min(wide, 1.0) : 0;
    if (i.mode == to_zero || i.mode == down || i.mode == up)
      return directed<D>(wide, i.mode);
    return D(wide);
  }
}

template <class S, class D> void convert(warp &w, const instruction &i) {
  each_lane(w.executing, [&](int k) {
    S value = read_lane<S>(w, i.o[1], k);
    D result;
    if constexpr (is_integer<S> && is_integer<D>)
      result = integer_from_integer<S, D>(value, i.mode2 & is_saturated);
    else if constexpr (is_integer<D>)
      result = integer_of<S, D>(rounded(double(wide_of<S>(value)), i.mode));
    else
      result = real_of<S, D>(value, i);
    write_lane(w, i.o[0], k, result);
  });
}

template <class S> handler pick_to(type d) {
  switch (d) {
  case type::s8:
    return convert<S, int8_t>;
  case type::u8:
  case type::b8:
    return convert<S, uint8_t>;
  case type::s16:
    return convert<S, int16_t>;
  case type::u16:
    return convert<S, uint16_t>;
  case type::s32:
    return convert<S, int32_t>;
  case type::u32:
    return convert<S, uint32_t>;
  case type::s64:
    return convert<S, int64_t>;
  case type::u64:
    return convert<S, uint64_t>;
  case type::f16:
    return convert<S, half>;
  case type::bf16:
    return convert<S, brain>;
  case type::f32:
    return convert<S, float>;
  case type::f64:
    return convert<S, double>;
  default:
    return nullptr;
  }
}

handler pick(type s, type d) {
  switch (s) {
  case type::s8:
    return pick_to<int8_t>(d);
  case type::u8:
  case type::b8:
    return pick_to<uint8_t>(d);
  case type::s16:
    return pick_to<int16_t>(d);
  case type::u16:
    return pick_to<uint16_t>(d);
  case type::s32:
    return pick_to<int32_t>(d);
  case type::u32:
    return pick_to<uint32_t>(d);
  case type::s64:
    return pick_to<int64_t>(d);
  case type::u64:
    return pick_to<uint64_t>(d);
  case type::f16:
    return pick_to<half>(d);
  case type::bf16:
    return pick_to<brain>(d);
  case type::f32:
    return pick_to<float>(d);
  case type::f64:
    return pick_to<double>(d);
  default:
    return nullptr;
  }
}

/// Two floats become a pair: the first is its upper part.
template <class T> void convert_pair(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]);
  float *high = w.lanes<float>(i.o[1]), *low = w.lanes<float>(i.o[2]);
  each_lane(w.executing, [&](int k) {
    float a = low[k], b = high[k];
    if (i.flags & 1)
      a = a > 0 || a != a ? a : 0, b = b > 0 || b != b ? b : 0;
    d[2 * k] = with_one_nan(i.mode == to_zero ? directed<T>(a, to_zero) : T(a));
    d[2 * k + 1] = with_one_nan(i.mode == to_zero ? directed<T>(b, to_zero) : T(b));
  });
}

/// To 10 bits behind the point: half away from 0 (rna), to even (rn) or cut (rz).
void convert_tf32(warp &w, const instruction &i) {
  map_one<uint32_t, 1>(w, i, [&](uint32_t bits) {
    if ((bits & 0x7f800000u) == 0x7f800000u)
      return bits & ~0x1fffu;
    uint32_t add = i.mode == 0 ? 0x1000u : i.mode == 1 ? 0xfffu + (bits >> 13 & 1) : 0;
    return (bits + add) & ~0x1fffu;
  });
}

void decode_pair(decoder &d, type to) {
  d.out.flags = d.take("relu");
  if (d.take_type() != type::f32)
    d.fail_type(to);
  d.need(3, 3);
  d.destination(0, 4);
  d.source(1, 4);
  d.source(2, 4);
  d.set(to == type::f16x2 ? convert_pair<half> : convert_pair<brain>, unit::real);
}

void decode_tf32(decoder &d, bool is_away) {
  d.out.mode = is_away ? 0 : d.out.mode == to_zero ? 2 : 1;
  if (d.take_type() != type::f32)
    d.fail_type(type::tf32);
  d.need(2, 2);
  d.destination(0, 4);
  d.source(1, 4);
  d.set(convert_tf32, unit::real);
}

} // namespace

void decode_cvt(decoder &d) {
  static constexpr uint8_t modes[] = {
      nearest, to_zero, integer_nearest, integer_zero, integer_down, integer_up, down, up};
  int how = d.take_one({"rn", "rz", "rni", "rzi", "rmi", "rpi", "rm", "rp"});
  d.out.mode = how < 0 ? uint8_t(nearest) : modes[how];
  bool is_away = d.take("rna");
  if (d.take("sat"))
    d.out.mode2 |= is_saturated;
  if (d.take("ftz"))
    d.out.mode2 |= is_flushed;
  type to = d.take_type();
  d.out.t = to;
  if (to == type::f16x2 || to == type::bf16x2)
    return decode_pair(d, to);
  if (to == type::tf32)
    return decode_tf32(d, is_away);
  if (is_away)
    d.fail_type(to);
  if (d.take("relu"))
    d.fail("'.relu' is supported for pairs alone");
  type from = d.out.from = d.take_type();
  d.need(2, 2);
  d.any_destination(0);
  d.any_source(1, bytes_of(from));
  if (d.operand_at(0).width < bytes_of(to) || d.operand_at(1).width < bytes_of(from))
    d.fail("a register is too narrow for its type");
  d.set(pick(from, to), is_float(to) || is_float(from) ? unit::real : unit::integer);
}

} // namespace weft_emulated
