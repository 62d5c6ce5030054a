// Moves between registers, and addresses between spaces.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

template <class T> void move(warp &w, const instruction &i) {
  T *d = w.lanes<T>(i.o[0]), *a = w.lanes<T>(i.o[1]);
  if (w.executing == all_lanes)
    std::memmove(d, a, 32 * sizeof(T));
  else
    each_lane(w.executing, [&](int k) { d[k] = a[k]; });
}

void move_predicate(warp &w, const instruction &i) { w.set_mask(i.o[0], w.truth(i.o[1])); }

/// Between one register and the parts of which it consists.
template <bool is_pack> void move_parts(warp &w, const instruction &i) {
  const operand &whole = i.o[is_pack ? 0 : 1], &parts = i.o[is_pack ? 1 : 0];
  each_lane(w.executing, [&](int k) {
    uint8_t *bytes = w.registers + whole.slot + size_t(k) * whole.width;
    for (uint32_t p = 0; p < parts.count; ++p) {
      const operand &part = parts.parts[p];
      if (part.kind == operand::sink)
        continue;
      uint8_t *place = w.registers + part.slot + size_t(k) * part.width;
      if (is_pack)
        std::memcpy(bytes + p * part.width, place, part.width);
      else
        std::memcpy(place, bytes + p * part.width, part.width);
    }
  });
}

void decode_parts(decoder &d) {
  bool is_pack = d.text(1).kind == operand_text::vector;
  const operand_text &parts = d.text(is_pack ? 1 : 0);
  uint32_t width = bytes_of(d.out.t);
  if (parts.parts.size() != 2 && parts.parts.size() != 4)
    d.fail("a register has 2 or 4 parts");
  uint32_t each = width / uint32_t(parts.parts.size());
  if (each == 0 || width > 8)
    d.fail_type(d.out.t);
  if (is_pack) {
    d.destination(0, width);
    d.vector_source(1, each, parts.parts.size());
  } else {
    d.vector_destination(0, each, parts.parts.size());
    d.source(1, width);
  }
  d.set(is_pack ? move_parts<true> : move_parts<false>, unit::move);
}

uint64_t window_of(space where) {
  return where == space::shared  ? shared_window
         : where == space::local ? local_window
         : where == space::param ? parameter_window
                                 : 0;
}

template <class T> void to_generic(warp &w, const instruction &i) {
  uint64_t window = window_of(i.where);
  uint64_t *d = w.lanes<uint64_t>(i.o[0]);
  T *a = w.lanes<T>(i.o[1]);
  each_lane(w.executing, [&](int k) { d[k] = a[k] | window; });
}

void from_generic(warp &w, const instruction &i) {
  uint64_t window = window_of(i.where);
  uint64_t *a = w.lanes<uint64_t>(i.o[1]);
  each_lane(w.executing, [&](int k) {
    uint64_t address = a[k];
    space where = space_of(address);
    bool is_right = where == i.where || (where == space::global && i.where == space::constant);
    if (!is_right)
      stop(w, k, "the address is of another space");
    (void)window;
    std::memcpy(w.registers + i.o[0].slot + size_t(k) * i.o[0].width, &address, i.o[0].width);
  });
}

void is_space(warp &w, const instruction &i) {
  uint64_t *a = w.lanes<uint64_t>(i.o[1]);
  uint32_t result = 0;
  each_lane(w.executing, [&](int k) {
    uint64_t address = a[k];
    result |= uint32_t(space_of(address) == i.where) << k;
  });
  w.set_mask(i.o[0], result);
}

space take_space(decoder &d) {
  int where =
      d.take_one({"global", "shared", "local", "param", "const", "shared::cta", "param::entry"});
  static constexpr space spaces[] = {space::global,   space::shared, space::local, space::param,
                                     space::constant, space::shared, space::param};
  if (where < 0)
    d.fail("a space is expected");
  return spaces[where];
}

} // namespace

void decode_mov(decoder &d) {
  type t = d.out.t = d.take_type();
  d.need(2, 2);
  if (t == type::pred) {
    d.predicate_destination(0);
    d.predicate_source(1);
    return d.set(move_predicate, unit::move);
  }
  if (d.text(0).kind == operand_text::vector || d.text(1).kind == operand_text::vector)
    return decode_parts(d);
  uint32_t width = bytes_of(t);
  d.destination(0, width);
  if (d.text(1).kind == operand_text::address)
    d.fail("a sum of an address and a number is not supported here");
  d.source(1, width);
  d.set(width == 2   ? move<uint16_t>
        : width == 4 ? move<uint32_t>
        : width == 8 ? move<uint64_t>
                     : handler(nullptr),
        unit::move);
}

void decode_cvta(decoder &d) {
  bool is_to = d.take("to");
  d.out.where = take_space(d);
  d.out.t = d.take_type();
  if (bytes_of(d.out.t) != 8)
    d.fail("addresses have 64 bits here");
  d.need(2, 2);
  d.destination(0, 8);
  d.source(1, 8);
  d.set(is_to ? from_generic : to_generic<uint64_t>, unit::integer);
}

void decode_isspacep(decoder &d) {
  d.out.where = take_space(d);
  d.need(2, 2);
  d.predicate_destination(0);
  d.source(1, 8);
  d.set(is_space, unit::integer);
}

} // namespace weft_emulated
