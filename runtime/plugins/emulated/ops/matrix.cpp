// ldmatrix and stmatrix: rows of 16 bytes in shared memory are fragments of 8x8 matrices in registers.
//
// With g = lane / 4 and t = lane % 4 a lane holds columns 2t and 2t + 1 of row g; transposed, rows 2t and 2t + 1 of column g.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

void load_matrices(warp &w, const instruction &i) {
  need_convergence(w);
  uint64_t address[32];
  uint16_t rows[32][8];
  const run_options &options = w.home->options();
  for (int k = 0; k < 8 * i.n; ++k) {
    address[k] = shared_address(w.address(i.o[1], k));
    std::memcpy(rows[k], shared_place(w, k, address[k], 16, 16), 16);
    if (options.has_checks)
      w.home->shadow.read(w, {uint32_t(address[k]), 16, -1});
  }
  for (int q = 0; q < i.n; ++q) {
    uint32_t *d = w.lanes<uint32_t>(i.o[0].parts[q]);
    if (!i.mode) { // a row is four lanes, one after the other
      std::memcpy(d, rows + q * 8, 128);
      continue;
    }
    for (int k = 0; k < 32; ++k) {
      int row = k / 4, column = k % 4 * 2;
      d[k] = rows[q * 8 + column][row] | uint32_t(rows[q * 8 + column + 1][row]) << 16;
    }
  }
  if (options.has_counters)
    for (int q = 0; q < i.n; ++q)
      count_shared(w, address + 8 * q, 0xff, 16);
}

void store_matrices(warp &w, const instruction &i) {
  need_convergence(w);
  uint64_t address[32];
  uint16_t rows[32][8];
  for (int q = 0; q < i.n; ++q) {
    uint32_t *s = w.lanes<uint32_t>(i.o[1].parts[q]);
    for (int k = 0; k < 32; ++k) {
      int row = k / 4, column = k % 4 * 2;
      (i.mode ? rows[q * 8 + column][row] : rows[q * 8 + row][column]) = uint16_t(s[k]);
      (i.mode ? rows[q * 8 + column + 1][row] : rows[q * 8 + row][column + 1]) =
          uint16_t(s[k] >> 16);
    }
  }
  const run_options &options = w.home->options();
  for (int k = 0; k < 8 * i.n; ++k) {
    address[k] = shared_address(w.address(i.o[0], k));
    uint8_t *place = shared_place(w, k, address[k], 16, 16);
    if (options.has_checks)
      w.home->shadow.write(w, {uint32_t(address[k]), 16, k});
    std::memcpy(place, rows[k], 16);
  }
  ++w.home->progress;
  if (options.has_counters)
    for (int q = 0; q < i.n; ++q)
      count_shared(w, address + 8 * q, 0xff, 16);
}

void take_shape(decoder &d) {
  d.ignore({"sync", "aligned"});
  if (!d.take("m8n8"))
    d.fail("only matrices m8n8 are supported");
  int count = d.take_one({"x1", "x2", "x4"});
  if (count < 0)
    d.fail("a number of matrices is expected");
  d.out.n = 1 << count;
  d.out.mode = d.take("trans");
  if (!d.take("shared") && !d.take("shared::cta"))
    d.fail("'.shared' is expected");
  if (d.take_type() != type::b16)
    d.fail("only elements of 16 bits are supported");
  d.need(2, 2);
}

} // namespace

void decode_ldmatrix(decoder &d) {
  take_shape(d);
  d.vector_destination(0, 4, size_t(d.out.n));
  for (int32_t q = 0; q < d.out.n; ++q)
    if (d.operand_at(0).parts[q].kind == operand::sink)
      d.fail("'_' is no destination here");
  d.address(1);
  d.set(load_matrices, unit::shared);
}

void decode_stmatrix(decoder &d) {
  take_shape(d);
  d.address(0);
  d.vector_source(1, 4, size_t(d.out.n));
  d.set(store_matrices, unit::shared);
}

} // namespace weft_emulated
