// cp.async: copies of a lane that go on beside it.
//
// A copy that is lazy lands when the lane waits for its group, one that is eager at once; until the lane has waited nobody may use its place.
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/ops/bulk.h"
#include "runtime/plugins/emulated/ops/ops.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

namespace {

void write_bytes(warp &w, const lane_copy &copy) {
  uint8_t *to = w.home->shared.data() + copy.to;
  if (copy.from_bytes)
    std::memcpy(to, reinterpret_cast<const void *>(copy.from), copy.from_bytes);
  std::memset(to + copy.from_bytes, 0, copy.bytes - copy.from_bytes);
}

void land(warp &w, int lane, const std::vector<lane_copy> &copies) {
  bool has_checks = w.home->options().has_checks;
  for (const lane_copy &copy : copies) {
    if (w.home->options().is_lazy)
      write_bytes(w, copy);
    if (has_checks)
      w.home->shadow.land_copy(w, {copy.to, copy.bytes, lane}, w.id, w.seen.warps[w.id]);
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

/// o: [to, from, bytes of the source, or whether to ignore it, or nothing]
void copy_async(warp &w, const instruction &i) {
  async_state &state = async_of(w);
  const run_options &options = w.home->options();
  uint64_t to[32], from[32];
  uint32_t bytes = uint32_t(i.n), readers = 0, read = 0;
  each_lane(w.executing, [&](int k) {
    to[k] = shared_address(w.address(i.o[0], k));
    from[k] = w.address(i.o[1], k);
    lane_copy copy = {from[k], uint32_t(to[k]), bytes, bytes_from_memory(w, i, k)};
    shared_place(w, k, to[k], bytes, bytes);
    readers |= uint32_t(copy.from_bytes > 0) << k;
    read += copy.from_bytes;
    if (copy.from_bytes) { // aligned like a whole copy, also where it is a part of one
      if (from[k] & (bytes - 1))
        stop(w, k, "a misaligned source of " + std::to_string(bytes) + " bytes");
      for (uint32_t at = 0; at < copy.from_bytes;) {
        uint32_t piece = copy.from_bytes - at;
        piece = piece >= 16 ? 16 : piece >= 8 ? 8 : piece >= 4 ? 4 : piece >= 2 ? 2 : 1;
        global_place(w, k, {from[k] + at, piece, false, false});
        at += piece;
      }
    }
    if (options.has_checks)
      w.home->shadow.begin_copy(w, {copy.to, bytes, k});
    if (!options.is_lazy)
      write_bytes(w, copy);
    state.copies[k].open.push_back(copy);
  });
  ++w.home->progress;
  if (options.has_counters) {
    count_shared(w, to, w.executing, bytes);
    if (readers)
      count_global(w, from, readers, bytes);
    w.count->bytes_read += read;
  }
}

void commit(warp &w, const instruction &) {
  async_state &state = async_of(w);
  each_lane(w.executing, [&](int k) {
    state.copies[k].groups.push_back(std::move(state.copies[k].open));
    state.copies[k].open.clear();
  });
}

void wait_group(warp &w, const instruction &i) {
  async_state &state = async_of(w);
  each_lane(w.executing, [&](int k) {
    auto &groups = state.copies[k].groups;
    while (groups.size() > size_t(i.n)) {
      land(w, k, groups.front());
      groups.pop_front();
    }
  });
}

void wait_all(warp &w, const instruction &i) {
  wait_group(w, i);
  async_state &state = async_of(w);
  each_lane(w.executing, [&](int k) {
    land(w, k, state.copies[k].open);
    state.copies[k].open.clear();
  });
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
