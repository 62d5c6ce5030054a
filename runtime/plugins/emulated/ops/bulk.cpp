// cp.async.bulk: copies of many bytes, or of boxes of a tensor, that another engine makes beside the warps.
#include "runtime/plugins/emulated/ops/bulk.h"
#include "runtime/plugins/emulated/ops/access.h"
#include "runtime/plugins/emulated/run/tensor_map.h"

namespace weft_emulated {

namespace {

/// A piece of a copy: bytes of global memory, or zeros, and their place in shared memory.
using piece_function = std::function<void(uint64_t global, uint32_t shared, uint32_t bytes)>;

/// Elements of a row of a box that are copied at once, from element `e` on: 16 bytes that lie together and are aligned on both sides, or one.
uint32_t side_by_side(const tensor_map &map, uint64_t address, int64_t place, uint32_t e,
                      uint32_t at) {
  uint32_t step = 16 / map.element_bytes;
  bool fits = e + step <= map.box[0] && place >= 0 && place + step <= int64_t(map.sizes[0]);
  return fits && address % 16 == 0 && at % 16 == 0 ? step : 1;
}

/// The box at `corner`, piece by piece; elements outside of the tensor have the address 0.
void each_element(const tensor_map &map, const int32_t *corner, uint32_t shared,
                  const piece_function &f) {
  uint32_t index[5] = {}, at = 0;
  for (;;) {
    bool is_inside = true;
    uint64_t address = map.base;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t place = int64_t(corner[d]) + index[d];
      is_inside &= place >= 0 && place < int64_t(map.sizes[d]);
      address += uint64_t(place) * map.strides[d];
    }
    for (uint32_t e = 0, count; e < map.box[0]; e += count, at += count * map.element_bytes) {
      int64_t place = int64_t(corner[0]) + e;
      bool is_there = is_inside && place >= 0 && place < int64_t(map.sizes[0]);
      uint64_t from = is_there ? address + uint64_t(place) * map.element_bytes : 0;
      count = is_inside ? side_by_side(map, from, place, e, at) : 1;
      f(from, swizzled(shared + at, map.swizzle), count * map.element_bytes);
    }
    uint32_t d = 1;
    while (d < map.rank && ++index[d] == map.box[d])
      index[d++] = 0;
    if (d >= map.rank)
      return;
  }
}

/// Where a lane's copy goes, once all about it is known.
struct bulk_copy {
  int lane;
  uint32_t shared, bytes;
  uint64_t global;       ///< of one without a tensor
  const tensor_map *map; ///< or null
  int32_t corner[5];
  uint32_t barrier; ///< of one into shared memory
};

void each_piece(const bulk_copy &copy, const piece_function &f) {
  if (copy.map)
    return each_element(*copy.map, copy.corner, copy.shared, f);
  for (uint32_t at = 0; at < copy.bytes; at += 16)
    f(copy.global + at, copy.shared + at, 16);
}

void land(warp &w, const bulk_copy &copy) {
  block &b = *w.home;
  each_piece(copy, [&](uint64_t global, uint32_t shared, uint32_t bytes) {
    uint8_t *to = b.shared.data() + shared;
    if (global)
      std::memcpy(to, global_place(w, copy.lane, {global, bytes, false, false}), bytes);
    else
      std::memset(to, 0, bytes);
  });
  uint32_t clock = ++b.async->copy_clock;
  if (b.options().has_checks)
    b.shadow.land_copy(w, {copy.shared, copy.bytes, -1}, uint16_t(b.warp_count), clock);
  memory_barrier &barrier = barrier_at(w, copy.lane, copy.barrier);
  barrier.seen.warps.resize(b.warp_count + 1);
  barrier.seen.warps[b.warp_count] = std::max(barrier.seen.warps[b.warp_count], clock);
  barrier.bytes -= copy.bytes;
  complete_phase(b, barrier);
}

bulk_copy read_copy(warp &w, const instruction &i, int lane) {
  bulk_copy copy = {};
  bool is_load = i.mode;
  copy.lane = lane;
  copy.shared = uint32_t(shared_address(w.address(i.o[is_load ? 0 : 1], lane)));
  uint64_t global = w.address(i.o[is_load ? 1 : 0], lane);
  if (i.n == 0) {
    copy.global = global;
    copy.bytes = w.lanes<uint32_t>(i.o[2])[lane];
    if (copy.bytes == 0 || copy.bytes % 16 || global % 16)
      stop(w, lane, "a copy in bulk has a multiple of 16 bytes, at a multiple of 16");
    shared_place(w, lane, copy.shared, copy.bytes, 16);
  } else {
    find_allocation(w, lane, {global, 64, false, false});
    copy.map = reinterpret_cast<const tensor_map *>(global);
    if (copy.map->magic != tensor_map_magic)
      stop(w, lane, "the address is no tensor map");
    if (copy.map->rank != uint32_t(i.n))
      stop(w, lane, "the tensor map has rank " + std::to_string(copy.map->rank));
    copy.bytes = copy.map->element_bytes;
    for (uint32_t d = 0; d < copy.map->rank; ++d) {
      copy.bytes *= copy.map->box[d];
      copy.corner[d] = w.lanes<int32_t>(i.o[2].parts[d])[lane];
    }
    shared_place(w, lane, copy.shared, copy.bytes, 128);
  }
  if (is_load)
    copy.barrier = uint32_t(shared_address(w.address(i.o[3], lane)));
  return copy;
}

/// o: [to, from, bytes or coordinates, barrier]
void load_bulk(warp &w, const instruction &i) {
  block &b = *w.home;
  each_lane(w.executing, [&](int k) {
    bulk_copy copy = read_copy(w, i, k);
    memory_barrier &barrier = barrier_at(w, k, copy.barrier);
    if (b.options().has_checks)
      b.shadow.begin_copy(w, {copy.shared, copy.bytes, -1});
    w.count->bytes_read += copy.bytes;
    ++b.progress;
    if (b.options().is_lazy)
      barrier.landing.push_back([&w, copy] { land(w, copy); });
    else
      land(w, copy);
  });
}

/// Its source must have been made known to the engine; it is in use until the copy was waited for.
void store_bulk(warp &w, const instruction &i) {
  block &b = *w.home;
  each_lane(w.executing, [&](int k) {
    bulk_copy copy = read_copy(w, i, k);
    shared_access access = {copy.shared, copy.bytes, -1};
    access.is_async_proxy = true;
    if (b.options().has_checks)
      b.shadow.read(w, access);
    each_piece(copy, [&](uint64_t global, uint32_t shared, uint32_t bytes) {
      if (global)
        std::memcpy(global_place(w, k, {global, bytes, true, false}), b.shared.data() + shared,
                    bytes);
    });
    w.count->bytes_written += copy.bytes;
    ++async_of(w).bulk_stores;
    ++b.progress;
  });
}

void commit(warp &w, const instruction &) { async_of(w); }

void wait(warp &w, const instruction &i) {
  if (i.n == 0)
    async_of(w).bulk_stores = 0;
}

} // namespace

void decode_bulk(decoder &d) {
  if (d.take("commit_group")) {
    d.need(0, 0);
    return d.set(commit, unit::copy);
  }
  if (d.take("wait_group")) {
    d.take("read");
    d.need(1, 1);
    d.out.n = d.immediate(0) == 0 ? 0 : 1;
    return d.set(wait, unit::copy);
  }
  if (d.take("tensor")) {
    d.take("tile");
    int rank = d.take_one({"1d", "2d", "3d", "4d", "5d"});
    d.out.n = rank + 1;
    if (rank < 0)
      d.fail("a rank is expected");
  }
  // The first space is the destination's.
  bool is_load = d.take("mbarrier::complete_tx::bytes");
  if (!is_load && !d.take("bulk_group"))
    d.fail("this kind of copy is not supported");
  d.ignore({"shared::cluster", "shared::cta", "global"});
  d.out.mode = is_load;
  size_t sized = d.out.n ? 2 : 3;
  d.need(is_load ? sized + 1 : sized, is_load ? sized + 1 : sized);
  d.address(0);
  d.address(1);
  if (d.out.n)
    d.coordinates(is_load ? 1 : 0, size_t(d.out.n));
  else
    d.source(2, 4);
  if (is_load)
    d.address(sized);
  d.set(is_load ? load_bulk : store_bulk, unit::copy);
}

} // namespace weft_emulated
