// mma.sync: a product of small matrices, of which each lane holds fragments.
//
// With g = lane / 4, t = lane % 4, and P elements in a register, register q of A holds row g + 8 (q & 1), columns 4P (q >> 1) + P t + e; register q
// of B column g, rows 4P q + P t + e; C and D row g + 8 (i >> 1), column 2t + (i & 1). So 4 lanes side by side hold 4P elements side by side.
// Sums are computed one after the other along k, in f32 or modulo 2^32: the hardware's order is not documented.
#include "runtime/plugins/emulated/ops/lanes.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

constexpr int rows = 16, columns = 8, most_k = 64;

struct tf32 {
  uint32_t bits;
  explicit operator float() const {
    uint32_t cut = bits & ~0x1fffu;
    float value;
    std::memcpy(&value, &cut, 4);
    return value;
  }
};

/// One register of all lanes as numbers of the sum's type.
template <class E, class S> void widen(warp &w, const operand &o, S *out) {
  constexpr int count = 32 * (4 / int(sizeof(E)));
  E *from = w.lanes<E>(o);
  for (int i = 0; i < count; ++i) {
    if constexpr (is_integer<E>)
      out[i] = S(int32_t(from[i]));
    else
      out[i] = S(float(from[i]));
  }
}

template <class E, class S> void gather_rows(warp &w, const operand &a, S (*out)[most_k]) {
  constexpr int width = 4 * (4 / int(sizeof(E)));
  S lanes[32 * 4];
  for (uint32_t q = 0; q < a.count; ++q) {
    widen<E, S>(w, a.parts[q], lanes);
    for (int g = 0; g < 8; ++g)
      std::memcpy(&out[g + 8 * int(q & 1)][width * int(q >> 1)], lanes + g * width,
                  width * sizeof(S));
  }
}

template <class E, class S> void gather_columns(warp &w, const operand &b, S (*out)[columns]) {
  constexpr int width = 4 * (4 / int(sizeof(E)));
  S lanes[32 * 4];
  for (uint32_t q = 0; q < b.count; ++q) {
    widen<E, S>(w, b.parts[q], lanes);
    for (int j = 0; j < width; ++j)
      for (int g = 0; g < 8; ++g)
        out[width * int(q) + j][g] = lanes[g * width + j];
  }
}

// Registers 2 h and 2 h + 1 of lane k are elements 2 k and 2 k + 1 of rows 8 h to 8 h + 7, which follow each other.
template <class S> void gather_sums(warp &w, const operand &c, bool is_half, S (*out)[columns]) {
  for (int h = 0; h < 2; ++h) {
    S *sums = out[8 * h];
    if (is_half) {
      const half *from = w.lanes<half>(c.parts[h]);
      for (int k = 0; k < 64; ++k)
        sums[k] = S(float(from[k]));
      continue;
    }
    const S *even = w.lanes<S>(c.parts[2 * h]), *odd = w.lanes<S>(c.parts[2 * h + 1]);
    for (int k = 0; k < 32; ++k)
      sums[2 * k] = even[k], sums[2 * k + 1] = odd[k];
  }
}

template <class S> void scatter_sums(warp &w, const operand &d, bool is_half, S (*sum)[columns]) {
  for (int h = 0; h < 2; ++h) {
    const S *sums = sum[8 * h];
    if (is_half) {
      half *to = w.lanes<half>(d.parts[h]);
      for (int k = 0; k < 64; ++k)
        to[k] = half(float(with_one_nan(sums[k])));
      continue;
    }
    S *even = w.lanes<S>(d.parts[2 * h]), *odd = w.lanes<S>(d.parts[2 * h + 1]);
    for (int k = 0; k < 32; ++k) {
      even[k] = with_one_nan(sums[2 * k]);
      odd[k] = with_one_nan(sums[2 * k + 1]);
    }
  }
}

/// One after the other along k. Some rows at a time, whose sums stay in registers and do not wait for each other.
template <class S>
void multiply_and_add(int depth, S (*a)[most_k], S (*b)[columns], S (*sum)[columns]) {
  typedef S row __attribute__((vector_size(columns * sizeof(S))));
  constexpr int together = 8;
  for (int m = 0; m < rows; m += together) {
    row piece[together];
    std::memcpy(piece, sum[m], sizeof piece);
    for (int k = 0; k < depth; ++k) {
      row right;
      std::memcpy(&right, b[k], sizeof right);
      for (int r = 0; r < together; ++r)
        piece[r] += a[m + r][k] * right;
    }
    std::memcpy(sum[m], piece, sizeof piece);
  }
}

/// o: [D, A, B, C]; k: the depth; mode, mode2: whether D, C are halves.
template <class A, class B, class S> void multiply(warp &w, const instruction &i) {
  need_convergence(w);
  alignas(64) S a[rows][most_k], b[most_k][columns], sum[rows][columns];
  gather_rows<A, S>(w, i.o[1], a);
  gather_columns<B, S>(w, i.o[2], b);
  gather_sums<S>(w, i.o[3], i.mode2, sum);
  multiply_and_add<S>(i.k, a, b, sum);
  scatter_sums<S>(w, i.o[0], i.mode, sum);
  w.count->tensor_products += uint64_t(rows * columns) * uint64_t(i.k);
}

bool is_byte(type t) { return t == type::s8 || t == type::u8; }

handler pick(type a, type b) {
  if (is_byte(a) && is_byte(b)) {
    bool is_a = a == type::s8, is_b = b == type::s8;
    return is_a ? (is_b ? multiply<int8_t, int8_t, uint32_t> : multiply<int8_t, uint8_t, uint32_t>)
                : (is_b ? multiply<uint8_t, int8_t, uint32_t>
                        : multiply<uint8_t, uint8_t, uint32_t>);
  }
  if (a != b)
    return nullptr;
  return a == type::f16    ? multiply<half, half, float>
         : a == type::bf16 ? multiply<brain, brain, float>
         : a == type::tf32 ? multiply<tf32, tf32, float>
                           : handler(nullptr);
}

/// Depths that the instruction has, from the smaller on.
bool has_depth(type t, int32_t k) {
  int32_t least = is_byte(t) ? 16 : t == type::tf32 ? 4 : 8;
  return k == least || k == 2 * least;
}

} // namespace

void decode_mma(decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    d.fail("'.sync.aligned' is expected");
  std::string shape = d.take_prefix("m16n8k");
  d.out.k = shape == "4" ? 4 : shape == "8" ? 8 : shape == "16" ? 16 : shape == "32" ? 32 : 0;
  if (!d.take("row") || !d.take("col"))
    d.fail("'.row.col' is expected");
  type result = d.take_type(), a = d.take_type(), b = d.take_type(), sum = d.take_type();
  if (!has_depth(a, d.out.k))
    d.fail("this shape is not supported");
  bool has_halves = a == type::f16;
  auto fits = [&](type t) {
    return is_byte(a) ? t == type::s32 : t == type::f32 || (t == type::f16 && has_halves);
  };
  if (!fits(result) || !fits(sum))
    d.fail_type(result);
  d.out.mode = result == type::f16, d.out.mode2 = sum == type::f16;
  size_t each = 4 / (is_byte(a) ? 1u : a == type::tf32 ? 4u : 2u);
  d.need(4, 4);
  d.vector_destination(0, 4, d.out.mode ? 2 : 4);
  for (uint32_t q = 0; q < d.operand_at(0).count; ++q)
    if (d.operand_at(0).parts[q].kind == operand::sink)
      d.fail("'_' is no destination here");
  d.vector_source(1, 4, size_t(d.out.k) / 2 / each);
  d.vector_source(2, 4, size_t(d.out.k) / 4 / each);
  d.vector_source(3, 4, d.out.mode2 ? 2 : 4);
  d.set(pick(a, b), unit::tensor);
}

} // namespace weft_emulated
