#include "runtime/plugins/emulated/ops/access.h"

namespace weft_emulated {

uint8_t *shared_place(warp &w, int lane, uint64_t address, uint32_t bytes, uint32_t alignment) {
  block &b = *w.home;
  uint64_t size = b.grid->shared_bytes;
  int64_t place = int64_t(address) - shared_base;
  if (place < 0 || bytes > size || uint64_t(place) > size - bytes)
    stop(w, lane,
         "uses " + std::to_string(bytes) + " bytes of shared memory out of bounds: at byte " +
             std::to_string(place) + " of " + std::to_string(size));
  if (address & (alignment - 1))
    stop(w, lane,
         "a misaligned access: byte " + std::to_string(place) +
             " of shared memory, which lies as its variables are declared, is no multiple of " +
             std::to_string(alignment));
  return b.shared.data() + address;
}

uint8_t *local_place(warp &w, int lane, uint64_t address, uint32_t bytes) {
  if (address < local_base || bytes > w.local_bytes || address > w.local_bytes - bytes)
    stop(w, lane,
         "uses " + std::to_string(bytes) + " bytes of local memory out of bounds: at byte " +
             std::to_string(int64_t(address) - local_base) + " of " +
             std::to_string(w.local_bytes - local_base));
  if (address & (bytes - 1))
    stop(w, lane, "a misaligned access of " + std::to_string(bytes) + " bytes of local memory");
  return w.local + size_t(lane) * w.local_bytes + address;
}

const uint8_t *parameter_place(warp &w, int lane, uint64_t address, uint32_t bytes) {
  const launch_state &grid = *w.home->grid;
  uint64_t size = grid.code->parameter_bytes;
  if (bytes > size || address > size - bytes)
    stop(w, lane,
         "reads " + std::to_string(bytes) + " bytes behind the parameters, at byte " +
             std::to_string(address) + " of " + std::to_string(size));
  return grid.parameters.data() + address;
}

uint8_t *global_place(warp &w, int lane, const global_access &access) {
  uint64_t addresses[32];
  addresses[lane] = access.address;
  access_global(w, 1u << lane, addresses, access);
  return reinterpret_cast<uint8_t *>(access.address);
}

//===----------------------------------------------------------------------===//
// Releases and acquires
//===----------------------------------------------------------------------===//

/// All that this warp knows to have happened, itself included.
static foreign_clocks known_to(warp &w) {
  auto all = w.seen.blocks ? std::make_shared<std::map<uint32_t, warp_clocks>>(*w.seen.blocks)
                           : std::make_shared<std::map<uint32_t, warp_clocks>>();
  join((*all)[w.home->serial], w.seen.warps);
  ++w.seen.warps[w.id];
  return all;
}

static void learn(warp &w, const foreign_clocks &clocks) {
  if (!clocks)
    return;
  join(w.seen.blocks, clocks);
  auto own = clocks->find(w.home->serial);
  if (own == clocks->end())
    return;
  uint32_t mine = w.seen.warps[w.id];
  join(w.seen.warps, own->second);
  w.seen.warps[w.id] = mine;
}

void fence(warp &w, scope s) {
  if (s == scope::block)
    return;
  learn(w, w.acquired);
  w.acquired = nullptr;
  w.fenced_device = known_to(w);
  if (s == scope::system)
    w.fenced_system = w.fenced_device;
}

void release_at(warp &w, uint64_t address, scope s, bool is_release) {
  if (is_release) {
    w.fenced_device = known_to(w);
    if (s == scope::system)
      w.fenced_system = w.fenced_device;
  }
  if (s == scope::block)
    return;
  const launch_state &grid = *w.home->grid;
  grid.points->release(address, grid.device, scope::device, w.fenced_device);
  if (s == scope::system)
    grid.points->release(address, grid.device, scope::system, w.fenced_system);
}

void acquire_at(warp &w, uint64_t address, scope s, bool is_acquire) {
  if (s == scope::block)
    return;
  const launch_state &grid = *w.home->grid;
  foreign_clocks clocks = grid.points->acquire(address, grid.device, s);
  if (is_acquire)
    learn(w, clocks);
  else
    join(w.acquired, clocks);
}

} // namespace weft_emulated
