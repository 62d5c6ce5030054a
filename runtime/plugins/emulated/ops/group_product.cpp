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

/// A tile in shared memory, as 64 bits describe it. All sizes in an address are powers of two, so that it takes shifts.
struct tile {
  uint32_t start, leading, stride;
  uint32_t
      swizzle_bits; ///< of the 128, 64 or 32 bytes of a swizzle; 0: cores of 8 rows of 16 bytes
  uint32_t element_bits; ///< of an element's bytes

  tile(uint64_t bits, uint32_t element_bytes)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4), swizzle_bits(bits >> 62 == 1   ? 7
                                                                 : bits >> 62 == 2 ? 6
                                                                 : bits >> 62 == 3 ? 5
                                                                                   : 0),
        element_bits(uint32_t(__builtin_ctz(element_bytes))) {}

  /// Of row or column i, depth k.
  uint32_t address(bool is_turned, uint32_t i, uint32_t k) const {
    if (!swizzle_bits)
      return start + (is_turned
                          ? core(i, k & 7) + (i >> core_bits()) * stride + (k >> 3) * leading
                          : core(k, i & 7) + (i >> 3) * stride + (k >> core_bits()) * leading);
    uint32_t at;
    if (!is_turned) {
      at = ((i & 7) << swizzle_bits) + (i >> 3) * stride + (k << element_bits);
    } else {
      uint32_t span_bits = swizzle_bits - element_bits, in_span = i & ((1u << span_bits) - 1);
      at = (in_span << element_bits) + (i >> span_bits) * leading + ((k & 7) << swizzle_bits) +
           (k >> 3) * stride;
    }
    return swizzled(start + at, 1u << swizzle_bits);
  }

private:
  uint32_t core_bits() const { return 4 - element_bits; }
  /// In a core of 8 lines of 16 bytes.
  uint32_t core(uint32_t along, uint32_t line) const {
    return line * 16 + ((along & ((1u << core_bits()) - 1)) << element_bits);
  }
};

/// Pieces of 16 bytes of a tile from row or column `first` to `end`.
template <class F>
void each_piece(const tile &t, bool is_turned, uint32_t first, uint32_t end, uint32_t depth,
                F &&f) {
  uint32_t step = 16u >> t.element_bits;
  for (uint32_t row = first; row < end; row += is_turned ? step : 1)
    for (uint32_t k = 0; k < depth; k += is_turned ? 1 : step)
      f(t.address(is_turned, row, k));
}

/// Calls f(address) for all pieces of 16 bytes that the warp's part of the product reads.
template <class F> void each_source(warp &w, const group_product &p, F &&f) {
  const instruction &i = *p.i;
  uint32_t first = 16 * (w.id & 3u), e = bytes_of(i.from), depth = uint32_t(i.k);
  if (i.o[1].kind != operand::vector)
    each_piece(tile(p.a, e), i.flags & a_is_turned, first, first + 16, depth, f);
  each_piece(tile(p.b, e), i.flags & b_is_turned, 0, uint32_t(i.n), depth, f);
}

shared_access read_by_product(uint32_t address) {
  shared_access access = {address, 16, -1};
  access.is_async_proxy = true;
  return access;
}

/// Looks at the tiles when the product begins. Until it ends nobody may write them, so one look is enough.
void begin_flight(warp &w, const group_product &p) {
  block &b = *w.home;
  each_source(w, p, [&](uint32_t address) {
    shared_place(w, -1, address, 16, 16);
    if (b.options().has_checks)
      b.shadow.begin_flight(w, read_by_product(address));
  });
}

void end_flight(warp &w, const group_product &p) {
  block &b = *w.home;
  if (b.options().has_checks)
    each_source(w, p, [&](uint32_t address) { b.shadow.end_flight(w, read_by_product(address)); });
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

/// put(row or column, depth, value): elements of 16 bytes side by side lie together, and those of 8 rows follow each other.
template <class E, class S, class F> void each_element(warp &w, const tile_part &p, F &&put) {
  constexpr uint32_t step = 16 / uint32_t(sizeof(E)), together = 8;
  const uint8_t *shared = w.home->shared.data();
  if (p.is_turned) {
    for (uint32_t row = 0; row < p.count; row += step)
      for (uint32_t k = 0; k < p.depth; ++k) {
        E piece[step];
        std::memcpy(piece, shared + p.from.address(true, p.first + row, k), sizeof piece);
        for (uint32_t x = 0; x < step; ++x)
          put(row + x, k, widened<E, S>(piece[x]));
      }
    return;
  }
  for (uint32_t row = 0; row < p.count; row += together)
    for (uint32_t k = 0; k < p.depth; k += step) {
      E pieces[together][step];
      for (uint32_t r = 0; r < together; ++r)
        std::memcpy(pieces[r], shared + p.from.address(false, p.first + row + r, k),
                    sizeof pieces[r]);
      for (uint32_t x = 0; x < step; ++x)
        for (uint32_t r = 0; r < together; ++r)
          put(row + r, k + x, widened<E, S>(pieces[r][x]));
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
    tile_part rows = {tile(p.a, sizeof(E)), bool(i.flags & a_is_turned), 16 * (w.id & 3u), 16,
                      depth};
    each_element<E, S>(w, rows,
                       [&](uint32_t row, uint32_t k, S value) { m.a[row][k] = a_sign * value; });
  }
  tile_part columns = {tile(p.b, sizeof(E)), bool(i.flags & b_is_turned), 0, uint32_t(i.n), depth};
  each_element<E, S>(w, columns,
                     [&](uint32_t n, uint32_t k, S value) { m.b[k][n] = b_sign * value; });
}

/// Sum q of lane l: row l / 4 + 8 (q >> 1 & 1), column 2 (l % 4) + (q & 1) + 8 (q >> 2). Calls f(q, sums), where that of a lane is sums[place_of(l)].
template <class S, class F>
void each_register(const instruction &i, S (*sum)[most_columns], F &&f) {
  for (int q = 0; q < i.n / 2; ++q)
    f(q, &sum[8 * (q >> 1 & 1)][8 * (q >> 2) + (q & 1)]);
}
constexpr int place_of(int lane) { return lane / 4 * most_columns + lane % 4 * 2; }

template <class S> void gather_sums(warp &w, const group_product &p, S (*sum)[most_columns]) {
  const instruction &i = *p.i;
  const operand &d = i.o[0];
  each_register<S>(i, sum, [&](int q, S *sums) {
    if (i.mode) {
      const half *from = w.lanes<half>(d.parts[q / 2]) + (q & 1);
      for (int l = 0; l < 32; ++l)
        sums[place_of(l)] = S(float(from[2 * l]));
    } else {
      const S *from = w.lanes<S>(d.parts[q]);
      for (int l = 0; l < 32; ++l)
        sums[place_of(l)] = from[l];
    }
    for (int l = 0; p.scales != all_lanes && l < 32; ++l)
      if (!(p.scales >> l & 1))
        sums[place_of(l)] = 0;
  });
}

template <class S> void scatter_sums(warp &w, const instruction &i, S (*sum)[most_columns]) {
  const operand &d = i.o[0];
  each_register<S>(i, sum, [&](int q, const S *sums) {
    if (i.mode) {
      half *to = w.lanes<half>(d.parts[q / 2]) + (q & 1);
      for (int l = 0; l < 32; ++l)
        to[2 * l] = half(float(with_one_nan(sums[place_of(l)])));
    } else {
      S *to = w.lanes<S>(d.parts[q]);
      for (int l = 0; l < 32; ++l)
        to[l] = with_one_nan(sums[place_of(l)]);
    }
  });
}

/// One after the other along k. A piece of the sums stays in registers.
template <class S> void multiply_and_add(const instruction &i, operands<S> &m) {
  constexpr int rows = 4, columns = 8;
  for (int row = 0; row < 16; row += rows)
    for (int n = 0; n < i.n; n += columns) {
      S piece[rows][columns];
      for (int r = 0; r < rows; ++r)
        std::memcpy(piece[r], &m.sum[row + r][n], sizeof piece[r]);
      for (int k = 0; k < i.k; ++k)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < columns; ++c)
            piece[r][c] += m.a[row + r][k] * m.b[k][n + c];
      for (int r = 0; r < rows; ++r)
        std::memcpy(&m.sum[row + r][n], piece[r], sizeof piece[r]);
    }
}

template <class E, class S> void compute(warp &w, const group_product &p) {
  static thread_local operands<S> m;
  gather<E, S>(w, p, m);
  gather_sums<S>(w, p, m.sum);
  multiply_and_add<S>(*p.i, m);
  scatter_sums<S>(w, *p.i, m.sum);
  w.count->tensor_products += uint64_t(16) * uint64_t(p.i->n) * uint64_t(p.i->k);
}

void finish(warp &w, const group_product &p) {
  const instruction *waiting = w.current;
  w.current = p.i;
  end_flight(w, p);
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
  state.registers.assign(state.registers.size(), false);
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
  begin_flight(w, made);
  for (const operand *each : {&i.o[0], &i.o[1]})
    for (uint32_t q = 0; each->kind == operand::vector && q < each->count; ++q)
      state.use(each->parts[q].slot);
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
