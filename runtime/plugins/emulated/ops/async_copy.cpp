// cp.async: copies of a lane that go on beside it.
//
// A copy that is lazy lands when the lane waits for its group, one that is eager at once; until the lane has waited nobody may use its place.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/bulk.h"
#include "runtime/plugins/emulated/ops/ops.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

namespace {

void write_bytes(warp &w, const warp_copy &copy, int lane) {
  uint8_t *to = w.home->shared.data() + copy.to[lane];
  uint32_t given = copy.from_bytes[lane];
  if (given == copy.bytes && given == 16) {
    std::memcpy(to, reinterpret_cast<const void *>(copy.from[lane]), 16);
    return;
  }
  if (given)
    std::memcpy(to, reinterpret_cast<const void *>(copy.from[lane]), given);
  std::memset(to + given, 0, copy.bytes - given);
}

void land(warp &w, warp_copy &copy, uint32_t lanes) {
  const run_options &options = w.home->options();
  each_lane(lanes, [&](int k) {
    if (options.is_lazy)
      write_bytes(w, copy, k);
    if (options.has_checks)
      w.home->shadow.land_copy(w, {copy.to[k], copy.bytes, k}, w.id, w.seen.warps[w.id]);
  });
  copy.lanes &= ~lanes;
}

/// Lanes among `among` whose part of a copy is in a group that they wait for, when they leave `most` of their groups on their way.
uint32_t lanes_that_wait(const async_state &state, const warp_copy &copy, uint32_t among,
                         uint32_t most) {
  uint32_t waiting = 0;
  each_lane(copy.lanes & among, [&](int k) {
    waiting |= uint32_t(uint64_t(copy.group[k]) + most < state.committed[k]) << k;
  });
  return waiting;
}

/// A copy to be filled in, behind all that are on their way.
warp_copy &begin_copy(async_state &state) {
  if (state.landed.empty())
    state.landed.emplace_back();
  state.copies.splice(state.copies.end(), state.landed, state.landed.begin());
  return state.copies.back();
}

/// Copies that no lane waits for any more.
void drop_landed(async_state &state) {
  for (auto each = state.copies.begin(); each != state.copies.end();) {
    auto next = std::next(each);
    if (!each->lanes)
      state.landed.splice(state.landed.end(), state.copies, each);
    each = next;
  }
}

/// Bytes that come from memory: the rest is 0.
uint32_t bytes_from_memory(warp &w, const instruction &i, int lane) {
  if (i.o[2].kind == operand::predicate)
    return w.truth(i.o[2]) >> lane & 1 ? 0 : uint32_t(i.n);
  if (i.o[2].kind == operand::none)
    return uint32_t(i.n);
  return std::min(w.lanes<uint32_t>(i.o[2])[lane], uint32_t(i.n));
}

/// Reads of lanes whose copies are parts only: aligned like whole copies.
void read_parts(warp &w, const warp_copy &copy, uint32_t lanes) {
  each_lane(lanes, [&](int k) {
    if (copy.from[k] & (copy.bytes - 1))
      stop(w, k, "a misaligned source of " + std::to_string(copy.bytes) + " bytes");
    for (uint32_t at = 0; at < copy.from_bytes[k];) {
      uint32_t piece = copy.from_bytes[k] - at;
      piece = piece >= 16 ? 16 : piece >= 8 ? 8 : piece >= 4 ? 4 : piece >= 2 ? 2 : 1;
      global_place(w, k, {copy.from[k] + at, piece, false, false});
      at += piece;
    }
  });
}

/// Where lanes copy, from where and how much. The lanes that read anything.
uint32_t fill_copy(warp &w, const instruction &i, warp_copy &copy) {
  const async_state &state = *w.async;
  uint32_t whole = 0, parts = 0;
  copy.bytes = uint32_t(i.n);
  each_lane(w.executing, [&](int k) {
    copy.from[k] = w.address(i.o[1], k);
    copy.from_bytes[k] = bytes_from_memory(w, i, k);
    copy.group[k] = state.committed[k];
    uint64_t to = shared_address(w.address(i.o[0], k));
    shared_place(w, k, to, copy.bytes, copy.bytes);
    copy.to[k] = uint32_t(to);
    if (copy.from_bytes[k])
      (copy.from_bytes[k] == copy.bytes ? whole : parts) |= 1u << k;
  });
  access_global(w, whole, copy.from, {0, copy.bytes, false, false});
  read_parts(w, copy, parts);
  return whole | parts;
}

/// o: [to, from, bytes of the source, or whether to ignore it, or nothing]
void copy_async(warp &w, const instruction &i) {
  const run_options &options = w.home->options();
  warp_copy &copy = begin_copy(async_of(w));
  uint32_t readers = fill_copy(w, i, copy);
  copy.lanes = w.executing;
  uint64_t to[32];
  each_lane(w.executing, [&](int k) {
    to[k] = copy.to[k];
    w.count->bytes_read += copy.from_bytes[k];
    if (options.has_checks)
      w.home->shadow.begin_copy(w, {copy.to[k], copy.bytes, k});
    if (!options.is_lazy)
      write_bytes(w, copy, k);
  });
  ++w.home->progress;
  if (options.has_counters) {
    count_shared(w, to, w.executing, copy.bytes);
    if (readers)
      count_global(w, copy.from, readers, copy.bytes);
  }
}

void commit(warp &w, const instruction &) {
  async_state &state = async_of(w);
  each_lane(w.executing, [&](int k) { ++state.committed[k]; });
}

void wait_group(warp &w, const instruction &i) {
  async_state &state = async_of(w);
  for (warp_copy &copy : state.copies)
    land(w, copy, lanes_that_wait(state, copy, w.executing, uint32_t(i.n)));
  drop_landed(state);
}

void wait_all(warp &w, const instruction &) {
  async_state &state = async_of(w);
  for (warp_copy &copy : state.copies)
    land(w, copy, copy.lanes & w.executing);
  drop_landed(state);
}

void decode_copy(decoder &d) {
  bool is_global = d.take("cg");
  if (!is_global && !d.take("ca"))
    d.fail("'.ca' or '.cg' is expected");
  bool is_right = (d.take("shared") || d.take("shared::cta")) && d.take("global");
  if (!is_right)
    d.fail("a copy from '.global' to '.shared' is expected");
  d.take_prefix("L2::");
  d.need(3, 4);
  d.address(0);
  d.address(1);
  int64_t bytes = d.immediate(2);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (is_global && bytes != 16))
    d.fail("it copies 4, 8 or 16 bytes, with '.cg' 16");
  d.out.n = int32_t(bytes);
  if (d.count() < 4)
    d.nothing();
  else if (d.is_predicate(3))
    d.predicate_source(3);
  else
    d.source(3, 4);
  d.set(copy_async, unit::copy);
}

} // namespace

void decode_cp(decoder &d) {
  if (!d.take("async"))
    d.fail("'.async' is expected");
  if (d.take("bulk"))
    return decode_bulk(d);
  if (d.take("commit_group")) {
    d.need(0, 0);
    return d.set(commit, unit::copy);
  }
  if (d.take("wait_all")) {
    d.need(0, 0);
    return d.set(wait_all, unit::copy);
  }
  if (d.take("wait_group")) {
    d.need(1, 1);
    d.out.n = int32_t(std::min<int64_t>(std::max<int64_t>(d.immediate(0), 0), 1 << 20));
    return d.set(wait_group, unit::copy);
  }
  decode_copy(d);
}

} // namespace weft_emulated
