#include "runtime/plugins/emulated/run/global_memory.h"

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

allocation::allocation(uint64_t base, uint64_t size, bool is_writable, std::string name)
    : base(base), size(size), is_writable(is_writable), name(std::move(name)),
      pages(new std::atomic<shadow_page *>[size / shadow_page_bytes + 2]()) {}

allocation::~allocation() {
  for (size_t i = 0; i < size / shadow_page_bytes + 2; ++i)
    delete pages[i].load();
}

shadow_page &allocation::page(uint64_t address) {
  std::atomic<shadow_page *> &place = pages[address / shadow_page_bytes - base / shadow_page_bytes];
  shadow_page *page = place.load(std::memory_order_acquire);
  if (page)
    return *page;
  auto made = std::make_unique<shadow_page>();
  if (place.compare_exchange_strong(page, made.get()))
    return *made.release();
  return *page;
}

namespace {

/// What a message calls a buffer: the parameter that points into it, a variable's name, or its size.
std::string name_of(const warp &w, const allocation &in) {
  if (!in.name.empty())
    return "the variable '" + in.name + "' of " + std::to_string(in.size) + " bytes";
  const std::vector<uint64_t> &words = w.home->grid->words;
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] >= in.base && words[i] - in.base < in.size)
      return "the buffer of parameter " + std::to_string(i) + " (" + std::to_string(in.size) +
             " bytes)";
  return "a buffer of " + std::to_string(in.size) + " bytes";
}

[[noreturn]] void stop_outside(warp &w, int lane, const global_access &access) {
  std::string text = std::string(access.is_write ? "writes " : "reads ") +
                     std::to_string(access.bytes) + " bytes out of bounds";
  const allocation *nearest = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (const auto &each : *w.home->grid->memory) {
    uint64_t end = each->base + each->size;
    uint64_t d = access.address < each->base ? each->base - access.address
                 : access.address < end      ? 0
                                             : access.address - end;
    if (d < distance)
      distance = d, nearest = each.get();
  }
  if (!nearest || distance > uint64_t(1) << 40)
    stop(w, lane, text + ": no buffer is near address " + std::to_string(access.address));
  if (access.address < nearest->base)
    text += ", " + std::to_string(distance) + " bytes in front of ";
  else if (access.address >= nearest->base + nearest->size)
    text += ", " + std::to_string(distance) + " bytes behind ";
  else
    text += ", at byte " + std::to_string(access.address - nearest->base) + " of ";
  stop(w, lane, text + name_of(w, *nearest));
}

[[noreturn]] void stop_misaligned(warp &w, int lane, const global_access &access,
                                  const allocation &in) {
  stop(w, lane,
       "a misaligned access: " + std::to_string(access.bytes) + " bytes at byte " +
           std::to_string(access.address - in.base) + " of " + name_of(w, in) +
           (in.base & (access.bytes - 1) ? ", which is not aligned itself" : ""));
}

bool holds(const allocation &in, const global_access &access) {
  return access.address >= in.base && access.bytes <= in.size &&
         access.address - in.base <= in.size - access.bytes;
}

} // namespace

allocation &find_allocation(warp &w, int lane, const global_access &access) {
  allocation *&last = w.home->last_allocation;
  if (!last || !holds(*last, access)) {
    const memory_map &all = *w.home->grid->memory;
    size_t low = 0, high = all.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (all[middle]->base <= access.address)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0 || !holds(*all[low - 1], access))
      stop_outside(w, lane, access);
    last = all[low - 1].get();
  }
  allocation &found = *last;
  if (access.address & (access.bytes - 1))
    stop_misaligned(w, lane, access, found);
  if (access.is_write && !found.is_writable)
    stop(w, lane, "writes to " + name_of(w, found) + ", which is read-only");
  return found;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

namespace {

/// Whether blocks with this number may run while w's launch does.
bool is_concurrent(const warp &w, uint32_t block) {
  const launch_state &grid = *w.home->grid;
  if (block >= grid.first_block)
    return true; // of this launch, or of one that began later
  for (const auto &[first, end] : grid.live)
    if (block >= first && block < end)
      return true;
  return false;
}

bool has_seen(const warp &w, const access_stamp &stamp) {
  if (stamp.block < w.home->grid->oldest_block || stamp.clock == last_clock)
    return true;
  if (stamp.block == w.home->serial)
    return stamp.warp == w.id || w.seen.warps[stamp.warp] >= stamp.clock;
  if (!is_concurrent(w, stamp.block))
    return true;
  if (!w.seen.blocks)
    return false;
  auto found = w.seen.blocks->find(stamp.block);
  return found != w.seen.blocks->end() && found->second.size() > stamp.warp &&
         found->second[stamp.warp] >= stamp.clock;
}

[[noreturn]] void stop_race(warp &w, int lane, const allocation &in, const global_access &access,
                            const access_stamp &other, bool was_write) {
  const launch_state &grid = *w.home->grid;
  std::string who = "warp " + std::to_string(other.warp) + " of its block";
  if (other.block != w.home->serial) {
    bool is_same = other.block >= grid.first_block && other.block - grid.first_block < grid.blocks;
    who = is_same ? "block " + std::to_string(other.block - grid.first_block)
                  : "a block of another launch";
  }
  stop(w, lane,
       std::string("a race: ") + (access.is_write ? "writes" : "reads") + " what " + who +
           (was_write ? " wrote" : " read") + ", and nothing orders the two (byte " +
           std::to_string(access.address - in.base) + " of " + name_of(w, in) + ")");
}

access_stamp stamp_of(const warp &w, bool is_strong) {
  access_stamp made;
  made.block = w.home->serial;
  made.clock = std::min(w.seen.warps[w.id], last_clock);
  made.warp = w.id & 31;
  made.is_strong = is_strong;
  return made;
}

/// Whether the two are a race, unless something orders them.
bool conflicts(const access_stamp &other, uint32_t mask, bool is_strong) {
  return other.block && (other.bytes & mask) && !(other.is_strong && is_strong);
}

/// Holds the lock of one page after the other.
class page_lock {
public:
  ~page_lock() { let_go(); }
  shadow_page &take(shadow_page &page) {
    if (held == &page)
      return page;
    let_go();
    while (page.lock.test_and_set(std::memory_order_acquire)) {
    }
    held = &page;
    return page;
  }

private:
  void let_go() {
    if (held)
      held->lock.clear(std::memory_order_release);
  }
  shadow_page *held = nullptr;
};

/// Looks for a race in the cells of one access, and leaves the mark of this one there.
void note(warp &w, int lane, const allocation &in, const global_access &access, access_stamp mine,
          global_cell *cells) {
  uint32_t mask = access.bytes >= 4 ? 15 : ((1u << access.bytes) - 1) << (access.address & 3);
  mine.bytes = mask & 15;
  for (uint32_t i = 0; i < (access.bytes + 3) / 4; ++i) {
    global_cell &cell = cells[i];
    if (access.is_constant && cell.write.block == mine.block && (cell.write.bytes & mask))
      stop(w, lane, "reads as a constant (.nc) what its own block wrote");
    if (conflicts(cell.write, mask, access.is_strong) && !has_seen(w, cell.write))
      stop_race(w, lane, in, access, cell.write, true);
    if (!access.is_write) {
      cell.read = mine;
      continue;
    }
    if (conflicts(cell.read, mask, access.is_strong) && !has_seen(w, cell.read))
      stop_race(w, lane, in, access, cell.read, false);
    cell.write = mine;
  }
}

/// Lanes side by side that touch neighbours in one page.
struct lane_run {
  uint32_t first, count;
};

uint32_t lanes_of(const lane_run &run) {
  return uint32_t(((uint64_t(1) << run.count) - 1) << run.first);
}

lane_run take_run(uint32_t &lanes, const uint64_t *addresses, uint32_t bytes) {
  lane_run run = {uint32_t(__builtin_ctz(lanes)), 1};
  uint64_t next = addresses[run.first] + bytes;
  uint64_t page_end = (addresses[run.first] / shadow_page_bytes + 1) * shadow_page_bytes;
  for (uint32_t k = run.first + 1; k < 32 && lanes >> k & 1; ++k, ++run.count) {
    if (addresses[k] != next || next + bytes > page_end)
      break;
    next += bytes;
  }
  lanes &= ~lanes_of(run);
  return run;
}

/// Whether nothing can be said against an access of `mine`'s warp behind this one, whatever their bytes: it is the warp's own, or of a launch
/// that had ended before this one began.
bool is_harmless(const access_stamp &before, const access_stamp &mine, uint32_t oldest) {
  return before.block < oldest || (before.block == mine.block && before.warp == mine.warp);
}

/// Almost always nobody else touched any of a run's cells: then one look at all of them is enough.
bool is_quiet(const global_cell *cells, uint32_t count, const global_access &access,
              const access_stamp &mine, uint32_t oldest) {
  for (const global_cell *cell = cells; cell != cells + count; ++cell) {
    bool is_right =
        access.is_constant ? cell->write.block < oldest : is_harmless(cell->write, mine, oldest);
    if (!is_right || (access.is_write && !is_harmless(cell->read, mine, oldest)))
      return false;
  }
  return true;
}

/// `access` is the first lane's.
void note_run(warp &w, const lane_run &run, const allocation &in, global_access access,
              access_stamp mine, global_cell *cells) {
  uint32_t each = access.bytes / 4, count = run.count * each;
  if (each && is_quiet(cells, count, access, mine, w.home->grid->oldest_block)) {
    mine.bytes = 15;
    for (uint32_t i = 0; i < count; ++i)
      (access.is_write ? cells[i].write : cells[i].read) = mine;
    return;
  }
  uint64_t in_cell = access.address & 3;
  for (uint32_t k = 0; k < run.count; ++k) {
    note(w, int(run.first + k), in, access, mine, cells + (in_cell + k * access.bytes) / 4);
    access.address += access.bytes;
  }
}

} // namespace

void access_global(warp &w, uint32_t lanes, const uint64_t *addresses, global_access access) {
  bool has_checks = w.home->options().has_checks;
  access_stamp mine = stamp_of(w, access.is_strong);
  page_lock lock;
  while (lanes) {
    lane_run run = take_run(lanes, addresses, access.bytes);
    access.address = addresses[run.first];
    allocation &in = find_allocation(w, int(run.first), access);
    uint64_t fitting = (in.base + in.size - access.address) / access.bytes;
    if (fitting < run.count) { // the rest is outside, or in another one
      lanes |= lanes_of({run.first + uint32_t(fitting), run.count - uint32_t(fitting)});
      run.count = uint32_t(fitting);
    }
    if (!has_checks)
      continue;
    shadow_page &page = lock.take(in.page(access.address));
    note_run(w, run, in, access, mine, page.cells + access.address % shadow_page_bytes / 4);
  }
}

//===----------------------------------------------------------------------===//
// Releases and acquires
//===----------------------------------------------------------------------===//

void sync_points::release(uint64_t address, int device, scope s, const foreign_clocks &clocks) {
  if (!clocks)
    return;
  std::lock_guard<std::mutex> held(lock);
  point &at = points[address];
  join(at.devices[device], clocks);
  if (s == scope::system)
    join(at.system, clocks);
}

foreign_clocks sync_points::acquire(uint64_t address, int device, scope s) {
  std::lock_guard<std::mutex> held(lock);
  auto found = points.find(address);
  if (found == points.end())
    return nullptr;
  foreign_clocks result = found->second.devices[device];
  if (s == scope::system)
    join(result, found->second.system);
  return result;
}

void sync_points::clear() {
  std::lock_guard<std::mutex> held(lock);
  points.clear();
}

} // namespace weft_emulated
