#include "runtime/plugins/emulated/run/shared_shadow.h"

#include "runtime/plugins/emulated/run/async.h"
#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

namespace {

std::string at(const shared_access &access) {
  return " (shared memory, byte " + std::to_string(access.address - shared_base) + ")";
}

uint8_t bytes_mask(const shared_access &access) {
  return access.bytes >= 4 ? 15 : uint8_t(((1u << access.bytes) - 1) << (access.address & 3));
}

uint8_t lane_name(const shared_access &access) {
  return access.lane < 0 ? many_lanes : uint8_t(access.lane);
}

std::string who(const warp &w, uint32_t writer) {
  return writer == w.home->warp_count ? "a copy in bulk" : "warp " + std::to_string(writer);
}

size_t first_cell(const shared_access &access) { return (access.address - shared_base) >> 2; }
size_t last_cell(const shared_access &access) {
  return (access.address - shared_base + access.bytes - 1) >> 2;
}

} // namespace

/// What is asked of a warp for every cell, in registers of the host.
struct shared_shadow::view {
  const uint32_t *seen;
  uint32_t sync;
  uint16_t id;
  explicit view(const warp &w) : seen(w.seen.warps.data()), sync(w.sync), id(w.id) {}
};

void shared_shadow::reset(uint32_t bytes, uint32_t warps) {
  stride = warps;
  cells.assign(bytes / 4 + 4, {});
  read_clocks.assign(cells.size() * stride, 0);
}

inline bool shared_shadow::is_settled(const shared_cell &cell, const shared_access &access,
                                      uint8_t mask, const view &by) {
  return !cell.landing && (cell.initialised & mask) == mask && cell.writer != nobody &&
         cell.writer != by.id && by.seen[cell.writer] >= cell.write_clock &&
         !(access.is_async_proxy && cell.is_generic);
}

/// The same of a write: nobody uses the cell, and whoever wrote or read it is known to have done so before.
inline bool shared_shadow::is_free(const shared_cell &cell, const view &by) const {
  if (cell.landing | cell.in_flight)
    return false;
  if (cell.writer != nobody && (cell.writer == by.id || by.seen[cell.writer] < cell.write_clock))
    return false;
  if (!cell.read)
    return true;
  if (cell.reader == by.id && cell.read_sync == by.sync)
    return false;
  const uint32_t *clocks = &read_clocks[size_t(&cell - cells.data()) * stride];
  bool is_known = true;
  for (uint32_t other = 0; other < stride; ++other)
    is_known &= clocks[other] <= by.seen[other];
  return is_known;
}

void shared_shadow::check_read(warp &w, const shared_access &access, const shared_cell &cell,
                               uint8_t mask) {
  if (cell.landing)
    stop(w, access.lane,
         "reads what an asynchronous copy writes, and has not waited for it" + at(access));
  if ((cell.initialised & mask) != mask)
    stop(w, access.lane, "reads shared memory that nobody has written" + at(access));
  if (!(cell.written & mask) || cell.writer == nobody)
    return;
  if (access.is_async_proxy && cell.is_generic &&
      w.home->async->proxy_stamp(cell.writer) < cell.write_stamp)
    stop(w, access.lane,
         "the async proxy reads what a thread wrote without fence.proxy.async behind it" +
             at(access));
  if (cell.writer != w.id) {
    if (w.seen.warps[cell.writer] < cell.write_clock && !(access.is_atomic && cell.is_atomic))
      stop(w, access.lane,
           "a race: reads what " + who(w, cell.writer) + " wrote, without a barrier between them" +
               at(access));
  } else if (cell.write_sync == w.sync && access.lane >= 0 && cell.write_lane != access.lane &&
             !(access.is_atomic && cell.is_atomic)) {
    stop(w, access.lane,
         "a race: reads what another lane of its warp wrote, without bar.warp.sync between them" +
             at(access));
  }
}

inline void shared_shadow::note_read(const view &by, uint8_t lane, size_t i, uint8_t mask) {
  shared_cell &cell = cells[i];
  read_clocks[i * stride + by.id] = by.seen[by.id];
  if (cell.reader != by.id || cell.read_sync != by.sync) {
    cell.reader = by.id, cell.read_sync = by.sync, cell.read_lane = lane, cell.read = mask;
    return;
  }
  if (cell.read_lane != lane)
    cell.read_lane = many_lanes;
  cell.read |= mask;
}

void shared_shadow::read(warp &w, const shared_access &access) {
  const view by(w);
  uint8_t mask = bytes_mask(access), lane = lane_name(access);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    if (!is_settled(cells[i], access, mask, by))
      check_read(w, access, cells[i], mask);
    if (!access.is_atomic)
      note_read(by, lane, i, mask);
  }
}

void shared_shadow::check_write(warp &w, const shared_access &access, shared_cell &cell,
                                uint8_t mask) {
  if (cell.landing)
    stop(w, access.lane,
         "writes where an asynchronous copy writes, and has not waited for it" + at(access));
  if (cell.in_flight)
    stop(w, access.lane, "writes what a wgmma in flight still reads" + at(access));
  if ((cell.written & mask) && cell.writer != nobody && !(access.is_atomic && cell.is_atomic)) {
    if (cell.writer != w.id) {
      if (w.seen.warps[cell.writer] < cell.write_clock)
        stop(w, access.lane,
             "a race: writes what " + who(w, cell.writer) +
                 " wrote, without a barrier between them" + at(access));
    } else if (cell.write_sync == w.sync && access.lane >= 0 && cell.write_lane != access.lane &&
               cell.write_lane != many_lanes) {
      stop(w, access.lane,
           "a race: two lanes of a warp write the same bytes, without bar.warp.sync between them" +
               at(access));
    }
  }
  if (!(cell.read & mask))
    return;
  const uint32_t *clocks = &read_clocks[size_t(&cell - cells.data()) * stride];
  for (uint32_t other = 0; other < stride; ++other)
    if (other != w.id && clocks[other] > w.seen.warps[other])
      stop(w, access.lane,
           "a race: writes what " + who(w, other) + " read, without a barrier between them" +
               at(access));
  if (cell.reader == w.id && cell.read_sync == w.sync && cell.read_lane != access.lane &&
      access.lane >= 0)
    stop(w, access.lane,
         "a race: writes what another lane of its warp read, without bar.warp.sync between them" +
             at(access));
}

void shared_shadow::write(warp &w, const shared_access &access) {
  const view by(w);
  uint8_t mask = bytes_mask(access), lane = lane_name(access);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    shared_cell &cell = cells[i];
    if (!is_free(cell, by))
      check_write(w, access, cell, mask);
    cell.writer = by.id, cell.write_lane = lane;
    cell.write_clock = by.seen[by.id], cell.write_sync = by.sync, cell.write_stamp = w.stamp;
    cell.written = mask, cell.initialised |= mask;
    cell.is_generic = true, cell.is_atomic = access.is_atomic;
  }
}

void shared_shadow::begin_copy(warp &w, const shared_access &access) {
  const view by(w);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    if (!is_free(cells[i], by))
      check_write(w, access, cells[i], bytes_mask(access));
    cells[i].landing = 1;
  }
}

void shared_shadow::land_copy(warp &w, const shared_access &access, uint16_t writer,
                              uint32_t clock) {
  const view by(w);
  uint8_t lane = lane_name(access);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    shared_cell &cell = cells[i];
    cell.landing = 0;
    cell.writer = writer, cell.write_lane = lane;
    cell.write_clock = clock, cell.write_sync = by.sync, cell.write_stamp = w.stamp;
    cell.written = cell.initialised = 15;
    cell.is_generic = writer == by.id, cell.is_atomic = false;
  }
}

void shared_shadow::begin_flight(warp &w, const shared_access &access) {
  const view by(w);
  uint8_t mask = bytes_mask(access);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    if (!is_settled(cells[i], access, mask, by))
      check_read(w, access, cells[i], mask);
    ++cells[i].in_flight;
  }
}

void shared_shadow::end_flight(warp &w, const shared_access &access) {
  const view by(w);
  uint8_t mask = bytes_mask(access), lane = lane_name(access);
  for (size_t i = first_cell(access), last = last_cell(access); i <= last; ++i) {
    --cells[i].in_flight;
    note_read(by, lane, i, mask);
  }
}

} // namespace weft_emulated
