// wgmma: products of a warpgroup from tiles in shared memory, which go on beside its warps.
//
// Warp w of four computes rows 16 w … 16 w + 15 alone, so nothing waits for the others. What it computes is done at wgmma.wait_group, as late as it
// may; until then nobody may write the tiles or touch the registers. Descriptors of tiles: docs/emulated-gpu.md.
#include <algorithm>
#include <cstdlib>

#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/bulk.h"
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

/// Of instruction::flags: the operand's rows or columns lie side by side, instead of its depth; or it is subtracted.
constexpr uint8_t a_is_turned = 1, b_is_turned = 2, a_is_negated = 4, b_is_negated = 8;

/// A tile in shared memory, as 64 bits describe it.
struct tile {
  uint32_t start, leading, stride, swizzle; ///< swizzle 0: cores of 8 rows of 16 bytes

  explicit tile(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4), swizzle(bits >> 62 == 1   ? 128
                                                            : bits >> 62 == 2 ? 64
                                                            : bits >> 62 == 3 ? 32
                                                                              : 0) {}

  /// Of row or column i, depth k, elements of e bytes.
  uint32_t address(bool is_turned, uint32_t i, uint32_t k, uint32_t e) const {
    uint32_t in_core = 16 / e, at;
    if (!is_turned && !swizzle)
      at = i % 8 * 16 + i / 8 * stride + k / in_core * leading + k % in_core * e;
    else if (!is_turned)
      at = i % 8 * swizzle + i / 8 * stride + k * e;
    else if (!swizzle)
      at = i % in_core * e + i / in_core * stride + k % 8 * 16 + k / 8 * leading;
    else
      at = i % (swizzle / e) * e + i / (swizzle / e) * leading + k % 8 * swizzle + k / 8 * stride;
    return swizzled(start + at, swizzle);
  }
};

/// Pieces of 16 bytes of a tile from row or column `first` to `end`.
template <class F>
void each_piece(const tile &t, bool is_turned, uint32_t first, uint32_t end, const instruction &i,
                F &&f) {
  uint32_t e = bytes_of(i.from), step = 16 / e;
  for (uint32_t row = first; row < end; row += is_turned ? step : 1)
    for (uint32_t k = 0; k < uint32_t(i.k); k += is_turned ? 1 : step)
      f(t.address(is_turned, row, k, e));
}

enum class flight { begins, ends };

/// Looks at all bytes that the warp's part of the product reads.
void look(warp &w, const group_product &p, flight what) {
  const instruction &i = *p.i;
  block &b = *w.home;
  auto one = [&](uint32_t address) {
    shared_place(w, -1, address, 16, 16);
    shared_access access = {address, 16, -1};
    access.is_async_proxy = true;
    if (!b.options().has_checks)
      return;
    if (what == flight::ends)
      b.shadow.end_flight(access);
    b.shadow.read(w, access);
    if (what == flight::begins)
      b.shadow.begin_flight(access);
  };
  uint32_t first = 16 * (w.id & 3u);
  if (i.o[1].kind != operand::vector)
    each_piece(tile(p.a), i.flags & a_is_turned, first, first + 16, i, one);
  each_piece(tile(p.b), i.flags & b_is_turned, 0, uint32_t(i.n), i, one);
}

struct tf32 {
  uint32_t bits;
  explicit operator float() const {
    uint32_t cut = bits & ~0x1fffu;
    float value;
    std::memcpy(&value, &cut, 4);
    return value;
  }
};

template <class E, class S> S widened(E value) {
  if constexpr (is_integer<E>)
    return S(int32_t(value));
  else
    return S(float(value));
}

/// Rows or columns of a tile from the first on.
struct tile_part {
  tile from;
  bool is_turned;
  uint32_t first, count, depth;
};

/// put(row or column, depth, value): elements of 16 bytes side by side lie together.
template <class E, class S, class F> void each_element(warp &w, const tile_part &p, F &&put) {
  constexpr uint32_t step = 16 / uint32_t(sizeof(E));
  for (uint32_t row = 0; row < p.count; row += p.is_turned ? step : 1)
    for (uint32_t k = 0; k < p.depth; k += p.is_turned ? 1 : step) {
      E piece[step];
      uint32_t address = p.from.address(p.is_turned, p.first + row, k, sizeof(E));
      std::memcpy(piece, w.home->shared.data() + address, sizeof piece);
      for (uint32_t x = 0; x < step; ++x)
        put(row + (p.is_turned ? x : 0), k + (p.is_turned ? 0 : x), widened<E, S>(piece[x]));
    }
}

constexpr int most_columns = 256, most_depth = 32;

template <class S> struct operands {
  alignas(64) S a[16][most_depth], b[most_depth][most_columns], sum[16][most_columns];
};

template <class E, class S> void gather(warp &w, const group_product &p, operands<S> &m) {
  const instruction &i = *p.i;
  constexpr int per = 4 / int(sizeof(E));
  auto depth = uint32_t(i.k);
  S a_sign = i.flags & a_is_negated ? S(-1) : S(1), b_sign = i.flags & b_is_negated ? S(-1) : S(1);
  if (i.o[1].kind == operand::vector) {
    for (uint32_t q = 0; q < i.o[1].count; ++q)
      for (int l = 0; l < 32; ++l)
        for (int e = 0; e < per; ++e)
          m.a[l / 4 + 8 * int(q & 1)][l % 4 * per + e + 4 * per * int(q >> 1)] =
              a_sign * widened<E, S>(w.lanes<E>(i.o[1].parts[q])[l * per + e]);
  } else {
    tile_part rows = {tile(p.a), bool(i.flags & a_is_turned), 16 * (w.id & 3u), 16, depth};
    each_element<E, S>(w, rows,
                       [&](uint32_t row, uint32_t k, S value) { m.a[row][k] = a_sign * value; });
  }
  tile_part columns = {tile(p.b), bool(i.flags & b_is_turned), 0, uint32_t(i.n), depth};
  each_element<E, S>(w, columns,
                     [&](uint32_t n, uint32_t k, S value) { m.b[k][n] = b_sign * value; });
}

/// Sum q of lane l: row l / 4 + 8 (q >> 1 & 1), column 2 (l % 4) + (q & 1) + 8 (q >> 2).
template <class S, class F> void each_sum(const instruction &i, S (*sum)[most_columns], F &&f) {
  for (int l = 0; l < 32; ++l)
    for (int q = 0; q < i.n / 2; ++q)
      f(l, q, sum[l / 4 + 8 * (q >> 1 & 1)][l % 4 * 2 + (q & 1) + 8 * (q >> 2)]);
}

template <class E, class S> void compute(warp &w, const group_product &p) {
  static thread_local operands<S> m;
  const instruction &i = *p.i;
  const operand &d = i.o[0];
  gather<E, S>(w, p, m);
  each_sum<S>(i, m.sum, [&](int l, int q, S &sum) {
    if (!(p.scales >> l & 1))
      sum = 0;
    else if (i.mode)
      sum = S(float(w.lanes<half>(d.parts[q / 2])[2 * l + (q & 1)]));
    else
      sum = w.lanes<S>(d.parts[q])[l];
  });
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < i.k; ++k)
      for (int n = 0; n < i.n; ++n)
        m.sum[row][n] += m.a[row][k] * m.b[k][n];
  each_sum<S>(i, m.sum, [&](int l, int q, S &sum) {
    if (i.mode)
      w.lanes<half>(d.parts[q / 2])[2 * l + (q & 1)] = half(float(with_one_nan(sum)));
    else
      w.lanes<S>(d.parts[q])[l] = with_one_nan(sum);
  });
  w.count->tensor_products += uint64_t(16) * uint64_t(i.n) * uint64_t(i.k);
}

void finish(warp &w, const group_product &p) {
  const instruction *waiting = w.current;
  w.current = p.i;
  look(w, p, flight::ends);
  switch (p.i->from) {
  case type::f16:
    compute<half, float>(w, p);
    break;
  case type::bf16:
    compute<brain, float>(w, p);
    break;
  case type::b32: // tf32
    compute<tf32, float>(w, p);
    break;
  case type::s8:
    compute<int8_t, uint32_t>(w, p);
    break;
  default:
    compute<uint8_t, uint32_t>(w, p);
  }
  w.current = waiting;
}

void need_group(warp &w) {
  need_convergence(w);
  if (w.executing != all_lanes)
    stop(w, -1, "a warp of less than 32 threads is no part of a warpgroup");
}

void fence_registers(warp &w, const instruction &) {
  need_group(w);
  async_of(w).is_fenced = true;
}

void commit(warp &w, const instruction &) {
  need_group(w);
  async_state &state = async_of(w);
  state.groups.push_back(std::move(state.open));
  state.open.clear();
}

void wait(warp &w, const instruction &i) {
  need_group(w);
  async_state &state = async_of(w);
  while (state.groups.size() > size_t(i.n)) {
    for (const group_product &each : state.groups.front())
      finish(w, each);
    state.groups.pop_front();
  }
  if (!state.groups.empty() || !state.open.empty())
    return;
  state.registers.clear();
  w.watches_registers = false;
}

/// o: [D, A or its descriptor, descriptor of B, whether sums are kept]
void multiply(warp &w, const instruction &i) {
  need_group(w);
  async_state &state = async_of(w);
  if (!state.is_fenced)
    stop(w, -1, "no wgmma.fence is between this and what used its registers");
  uint64_t *b = w.lanes<uint64_t>(i.o[2]);
  if (std::any_of(b, b + 32, [&](uint64_t other) { return other != b[0]; }))
    stop(w, -1, "the descriptors of its lanes differ");
  group_product made = {&i, 0, b[0], w.truth(i.o[3])};
  if (i.o[1].kind != operand::vector)
    made.a = w.lanes<uint64_t>(i.o[1])[0];
  look(w, made, flight::begins);
  for (const operand *each : {&i.o[0], &i.o[1]})
    for (uint32_t q = 0; each->kind == operand::vector && q < each->count; ++q)
      state.registers.push_back(each->parts[q].slot);
  std::sort(state.registers.begin(), state.registers.end());
  state.registers.erase(std::unique(state.registers.begin(), state.registers.end()),
                        state.registers.end());
  w.watches_registers = true;
  state.open.push_back(made);
  ++w.home->progress;
}

bool is_byte(type t) { return t == type::s8 || t == type::u8; }

void take_flags(decoder &d, size_t at) {
  const instruction &i = d.out;
  if (is_byte(i.from))
    return d.need(at, at);
  bool has_turns = bytes_of(i.from) == 2, a_is_tile = d.operand_at(1).kind != operand::vector;
  size_t turns = has_turns ? (a_is_tile ? 2u : 1u) : 0u;
  d.need(at + 2 + turns, at + 2 + turns);
  d.out.flags |= int64_t(d.immediate(at)) < 0 ? a_is_negated : 0;
  d.out.flags |= int64_t(d.immediate(at + 1)) < 0 ? b_is_negated : 0;
  if (turns == 2)
    d.out.flags |= d.immediate(at + 2) ? a_is_turned : 0;
  if (turns)
    d.out.flags |= d.immediate(at + 1 + turns) ? b_is_turned : 0;
}

void decode_multiply(decoder &d) {
  std::string shape = d.take_prefix("m64n");
  size_t place = shape.find('k');
  if (place == shape.npos || shape.size() > 7)
    d.fail("a shape is expected");
  d.out.n = std::atoi(shape.substr(0, place).c_str());
  d.out.k = std::atoi(shape.substr(place + 1).c_str());
  type sum = d.take_type(), a = d.take_type(), b = d.take_type();
  bool is_known = a == type::f16 || a == type::bf16 || a == type::tf32 || is_byte(a);
  if (!is_known || a != b || d.out.n < 8 || d.out.n > 256 || d.out.n % 8)
    d.fail_type(a);
  d.out.from = a == type::tf32 ? type::b32 : a;
  if (uint32_t(d.out.k) * bytes_of(d.out.from) != 32)
    d.fail("this shape is not supported");
  d.out.mode = sum == type::f16;
  bool is_right =
      is_byte(a) ? sum == type::s32 : sum == type::f32 || (sum == type::f16 && a == type::f16);
  if (!is_right)
    d.fail_type(sum);
  d.vector_destination(0, 4, size_t(d.out.n) / (d.out.mode ? 4 : 2));
  for (uint32_t q = 0; q < d.operand_at(0).count; ++q)
    if (d.operand_at(0).parts[q].kind == operand::sink)
      d.fail("'_' is no destination here");
  d.text(1).kind == operand_text::vector ? d.vector_source(1, 4, 4) : d.source(1, 8);
  d.source(2, 8);
  d.predicate_source(3);
  take_flags(d, 4);
  d.set(multiply, unit::tensor);
}

} // namespace

void decode_wgmma(decoder &d) {
  d.ignore({"sync", "aligned"});
  if (d.take("mma_async"))
    return decode_multiply(d);
  if (d.take("fence")) {
    d.need(0, 0);
    return d.set(fence_registers, unit::tensor);
  }
  if (d.take("commit_group")) {
    d.need(0, 0);
    return d.set(commit, unit::tensor);
  }
  if (!d.take("wait_group"))
    d.fail("this operation is not supported");
  d.need(1, 1);
  d.out.n = int32_t(std::min<int64_t>(std::max<int64_t>(d.immediate(0), 0), 1 << 20));
  d.set(wait, unit::tensor);
}

} // namespace weft_emulated
