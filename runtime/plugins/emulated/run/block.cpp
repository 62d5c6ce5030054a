// A block: its warps take turns until all have ended or none can go on.
#include "runtime/plugins/emulated/run/async.h"
#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

namespace {

constexpr size_t arena_alignment = 64;

uint64_t special_value(const block &b, const warp &w, special what, uint32_t lane) {
  const launch_state &grid = *b.grid;
  uint32_t cluster = grid.code->cluster;
  switch (what) {
  case special::tid_x:
    return 32u * w.id + lane;
  case special::tid_yz:
  case special::zero:
    return 0;
  case special::ntid_x:
    return grid.threads;
  case special::one:
    return 1;
  case special::ctaid_x:
    return b.index;
  case special::nctaid_x:
    return grid.blocks;
  case special::laneid:
    return lane;
  case special::warpid:
    return w.id;
  case special::nwarpid:
    return b.warp_count;
  case special::smid:
    return b.index % grid.options->processors;
  case special::nsmid:
    return grid.options->processors;
  case special::lanemask_eq:
    return 1u << lane;
  case special::lanemask_lt:
    return (1u << lane) - 1;
  case special::lanemask_le:
    return (2u << lane) - 1;
  case special::lanemask_gt:
    return ~((2u << lane) - 1);
  case special::lanemask_ge:
    return ~((1u << lane) - 1);
  case special::clock:
    return 0;
  case special::clusterid:
    return b.index / cluster;
  case special::nclusterid:
    return grid.blocks / cluster;
  case special::cluster_ctaid:
    return b.index % cluster;
  case special::cluster_nctaid:
    return cluster;
  case special::dynamic_bytes:
    return grid.dynamic_bytes;
  case special::shared_bytes:
    return grid.shared_bytes;
  }
  return 0;
}

void fill_registers(const block &b, warp &w) {
  const program &code = *b.grid->code;
  for (const filled_slot &slot : code.constants)
    for (uint32_t lane = 0; lane < 32; ++lane)
      std::memcpy(w.registers + slot.slot + lane * slot.width, &slot.bits, slot.width);
  for (const special_slot &slot : code.specials)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint64_t value = special_value(b, w, slot.what, lane);
      std::memcpy(w.registers + slot.slot + lane * slot.width, &value, slot.width);
    }
}

void begin_warp(block &b, uint16_t id) {
  const program &code = *b.grid->code;
  warp &w = b.warps[id];
  w = warp();
  w.home = &b;
  w.id = id;
  w.count = &b.count;
  uint32_t threads = std::min(32u, b.grid->threads - 32 * id);
  w.live = w.active = threads == 32 ? all_lanes : (1u << threads) - 1;
  w.pc = uint32_t(code.entry);
  w.registers = b.arena.data() + size_t(id) * code.register_bytes;
  w.registers += (arena_alignment - uintptr_t(b.arena.data()) % arena_alignment) % arena_alignment;
  w.local = b.local.data() + size_t(id) * 32 * code.local_bytes;
  w.local_bytes = code.local_bytes;
  w.written.assign(code.watched_count, 0);
  w.seen.warps.assign(b.warp_count + 1, 0); // one more: the engine of bulk copies
  w.seen.warps[id] = 1;
  fill_registers(b, w);
}

} // namespace

void block::begin(launch_state &launch, uint32_t block_index, counters &) {
  grid = &launch;
  index = block_index;
  serial = launch.first_block + block_index;
  warp_count = (launch.threads + 31) / 32;
  const program &code = *launch.code;
  arena.resize(size_t(warp_count) * code.register_bytes + arena_alignment);
  local.assign(size_t(warp_count) * 32 * code.local_bytes, 0xcd);
  shared.assign(shared_base + launch.shared_bytes + 16, 0xff); // NaN in every type
  if (launch.options->has_checks)
    shadow.reset(launch.shared_bytes, warp_count + 1);
  for (hardware_barrier &barrier : barriers)
    barrier = {};
  async = std::make_shared<async_block>();
  async->fenced.assign(warp_count, 0);
  count = {};
  progress = 0;
  last_allocation = nullptr;
  warps.resize(warp_count);
  for (uint32_t i = 0; i < warp_count; ++i)
    begin_warp(*this, uint16_t(i));
}

bool block::run(uint64_t budget, std::mt19937_64 &random) {
  bool is_random = options().seed != 0;
  uint32_t first = is_random ? uint32_t(random() % warp_count) : 0;
  uint32_t step = is_random && random() % 2 ? warp_count - 1 : 1;
  bool has_ended = true;
  for (uint32_t k = 0; k < warp_count; ++k) {
    warp &w = warps[(first + uint64_t(k) * step) % warp_count];
    if (w.is_done)
      continue;
    has_ended = false;
    if (w.barrier >= 0)
      continue;
    w.must_yield = false;
    run_warp(w, is_random ? 1 + random() % budget : budget);
  }
  return has_ended;
}

std::string block::waiting() const {
  std::string text;
  uint32_t waiting_warps = 0;
  for (const warp &w : warps) {
    if (w.is_done || waiting_warps++)
      continue;
    text = "warp " + std::to_string(w.id) + " of block " + std::to_string(index) +
           " waits at line " + std::to_string(w.current ? w.current->line : 0);
    if (w.current)
      text += std::string(" (") + w.current->name + ")";
    if (w.barrier >= 0)
      text += " for barrier " + std::to_string(w.barrier) + ", where " +
              std::to_string(barriers[w.barrier].arrived) + " threads have arrived";
  }
  if (waiting_warps > 1)
    text += ", and " + std::to_string(waiting_warps - 1) + " more warps of its block";
  return text;
}

} // namespace weft_emulated
