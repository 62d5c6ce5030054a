// Loads and stores.
#include "runtime/plugins/emulated/ops/memory.h"
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/ops.h"

namespace weft_emulated {

namespace {

/// Elements of N bytes between a register and memory; wider registers get the sign, or zeros.
template <bool is_store, uint32_t N>
void transfer_part(warp &w, const instruction &i, const operand &part, uint8_t *const *places,
                   uint32_t offset) {
  uint8_t *lanes = w.registers + part.slot;
  if (is_store) {
    each_lane(w.executing,
              [&](int k) { std::memcpy(places[k] + offset, lanes + size_t(k) * part.width, N); });
  } else if (part.width == N) {
    each_lane(w.executing,
              [&](int k) { std::memcpy(lanes + size_t(k) * N, places[k] + offset, N); });
  } else {
    each_lane(w.executing, [&](int k) {
      int64_t value = 0;
      std::memcpy(&value, places[k] + offset, N);
      if (is_signed(i.t))
        value = int64_t(uint64_t(value) << (64 - 8 * N)) >> (64 - 8 * N);
      std::memcpy(lanes + size_t(k) * part.width, &value, part.width);
    });
  }
}

template <bool is_store> void transfer(warp &w, const instruction &i, uint8_t *const *places) {
  const operand &registers = i.o[is_store ? 1 : 0];
  uint32_t bytes = bytes_of(i.t);
  for (uint32_t p = 0; p < registers.count; ++p) {
    const operand &part = registers.parts[p];
    if (part.kind == operand::sink)
      continue;
    if (bytes == 4)
      transfer_part<is_store, 4>(w, i, part, places, p * 4);
    else if (bytes == 8)
      transfer_part<is_store, 8>(w, i, part, places, p * 8);
    else if (bytes == 2)
      transfer_part<is_store, 2>(w, i, part, places, p * 2);
    else
      transfer_part<is_store, 1>(w, i, part, places, p);
  }
}

template <bool is_store>
uint8_t *place_of(warp &w, const instruction &i, int lane, space where, uint64_t address) {
  uint32_t bytes = bytes_of(i.t) * i.vector;
  switch (where) {
  case space::shared: {
    uint8_t *place = shared_place(w, lane, address, bytes, bytes);
    if (w.home->options().has_checks) {
      shared_access access = {uint32_t(address), bytes, lane};
      access.is_atomic = i.mode != weak;
      is_store ? w.home->shadow.write(w, access) : w.home->shadow.read(w, access);
    }
    return place;
  }
  case space::local:
    return local_place(w, lane, address, bytes);
  case space::param:
    if (is_store)
      stop(w, lane, "writes to a parameter");
    return const_cast<uint8_t *>(parameter_place(w, lane, address, bytes));
  default: // looked at for all lanes together
    return reinterpret_cast<uint8_t *>(address);
  }
}

template <bool is_store>
void note_order(warp &w, const instruction &i, uint32_t lanes, const uint64_t *addresses) {
  if (i.mode == weak)
    return;
  scope s = scope(i.mode2);
  each_lane(lanes, [&](int k) {
    if (is_store)
      release_at(w, addresses[k], s, i.mode == releasing);
    else
      acquire_at(w, addresses[k], s, i.mode == acquiring);
  });
}

/// What lanes touch: where, and which of them in which space.
struct touched {
  uint64_t addresses[32] = {};
  uint8_t *places[32] = {};
  uint32_t in_shared = 0, in_global = 0;
};

template <bool is_store> void find_places(warp &w, const instruction &i, touched &t) {
  const operand &at = i.o[is_store ? 0 : 1];
  if (i.where == space::global) {
    each_lane(w.executing, [&](int k) {
      t.addresses[k] = w.address(at, k);
      t.places[k] = reinterpret_cast<uint8_t *>(t.addresses[k]);
    });
    t.in_global = w.executing;
    return;
  }
  each_lane(w.executing, [&](int k) {
    uint64_t address = w.address(at, k);
    space where = i.where == space::generic ? space_of(address) : i.where;
    t.addresses[k] = address;
    if (where == space::shared)
      t.in_shared |= 1u << k;
    else if (where == space::global || where == space::constant)
      t.in_global |= 1u << k;
    t.places[k] = place_of<is_store>(w, i, k, where, address);
  });
}

template <bool is_store> void access(warp &w, const instruction &i) {
  uint32_t bytes = bytes_of(i.t) * i.vector;
  touched t;
  find_places<is_store>(w, i, t);
  const uint64_t *addresses = t.addresses;
  uint8_t *const *places = t.places;
  uint32_t in_shared = t.in_shared, in_global = t.in_global;
  if (in_global)
    access_global(w, in_global, addresses, {0, bytes, is_store, i.mode != weak, i.n != 0});
  if (is_store)
    note_order<true>(w, i, in_global, addresses);
  transfer<is_store>(w, i, places);
  if (!is_store)
    note_order<false>(w, i, in_global, addresses);
  if (is_store)
    ++w.home->progress;
  else if (i.mode != weak)
    w.must_yield = true; // somebody else may have to write first
  if (!w.home->options().has_counters)
    return;
  if (in_shared)
    count_shared(w, addresses, in_shared, bytes);
  if (in_global) {
    count_global(w, addresses, in_global, bytes);
    uint64_t all = uint64_t(__builtin_popcount(in_global)) * bytes;
    (is_store ? w.count->bytes_written : w.count->bytes_read) += all;
  }
}

void prefetch(warp &, const instruction &) {}

void take_vector(decoder &d) {
  int which = d.take_one({"v2", "v4", "v8"});
  d.out.vector = which < 0 ? 1 : uint8_t(2 << which);
  d.out.t = d.take_type();
  uint32_t bytes = bytes_of(d.out.t);
  if (bytes == 0 || bytes > 8 || bytes * d.out.vector > 16)
    d.fail_type(d.out.t);
}

void ignore_hints(decoder &d) {
  d.ignore({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  while (!d.take_prefix("L1::").empty() || !d.take_prefix("L2::").empty()) {
  }
}

/// Registers of a load or store may be wider than its elements.
void check_widths(decoder &d, size_t place) {
  const operand &registers = d.operand_at(place);
  for (uint32_t p = 0; p < registers.count; ++p)
    if (registers.parts[p].kind == operand::lanes && registers.parts[p].width < bytes_of(d.out.t))
      d.fail("a register is too narrow for its type");
}

} // namespace

space take_any_space(decoder &d) {
  int where = d.take_one({"global", "shared", "local", "param", "const", "shared::cta",
                          "param::entry", "param::func"});
  static constexpr space spaces[] = {space::global,   space::shared, space::local, space::param,
                                     space::constant, space::shared, space::param, space::param};
  return where < 0 ? space::generic : spaces[where];
}

void take_order(decoder &d) {
  int how = d.take_one({"weak", "relaxed", "acquire", "release", "acq_rel", "volatile"});
  static constexpr uint8_t orders[] = {weak, relaxed, acquiring, releasing, both_orders, relaxed};
  bool is_volatile = how == 5;
  d.out.mode = how < 0 ? uint8_t(weak) : orders[how];
  int s = d.take_one({"cta", "gpu", "sys", "cluster"});
  d.out.mode2 = uint8_t(is_volatile || s == 2 ? scope::system
                        : s == 0 || s == 3    ? scope::block
                                              : scope::device);
}

/// A parameter of a function is in local memory, whatever the instruction calls its space.
void fix_space(decoder &d, size_t address) {
  const operand_text &given = d.text(address);
  placed place;
  if (given.kind == operand_text::address && d.out.where == space::param &&
      d.b.find_variable(d.scope(), given.parts[0].text, place))
    d.out.where = place.where;
}

void decode_ld(decoder &d) {
  take_order(d);
  d.out.where = take_any_space(d);
  ignore_hints(d);
  d.out.n = d.take("nc");
  take_vector(d);
  d.need(2, 2);
  fix_space(d, 1);
  d.vector_destination(0, bytes_of(d.out.t), d.out.vector, true);
  check_widths(d, 0);
  d.address(1);
  space where = d.out.where;
  d.set(access<false>, where == space::shared  ? unit::shared
                       : where == space::local ? unit::local
                       : where == space::param ? unit::move
                                               : unit::global);
}

void decode_st(decoder &d) {
  take_order(d);
  d.out.where = take_any_space(d);
  ignore_hints(d);
  take_vector(d);
  d.need(2, 2);
  fix_space(d, 0);
  d.address(0);
  d.vector_source(1, bytes_of(d.out.t), d.out.vector, true);
  check_widths(d, 1);
  space where = d.out.where;
  d.set(access<true>, where == space::shared  ? unit::shared
                      : where == space::local ? unit::local
                                              : unit::global);
}

void decode_prefetch(decoder &d) {
  d.ignore({"global", "L1", "L2", "uniform", "tensormap", "param", "const"});
  d.take_prefix("L2::");
  d.need(1, 2);
  d.address(0);
  d.set(prefetch, unit::move);
}

} // namespace weft_emulated
