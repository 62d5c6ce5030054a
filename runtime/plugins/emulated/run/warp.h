// 32 threads that execute together, and the block that they belong to.
#ifndef WEFT_EMULATED_RUN_WARP_H
#define WEFT_EMULATED_RUN_WARP_H

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "runtime/plugins/emulated/code/instruction.h"
#include "runtime/plugins/emulated/run/counters.h"
#include "runtime/plugins/emulated/run/finding.h"
#include "runtime/plugins/emulated/run/global_memory.h"
#include "runtime/plugins/emulated/run/order.h"
#include "runtime/plugins/emulated/run/shared_shadow.h"

namespace weft_emulated {

struct block;
struct async_state;
struct async_block;
constexpr uint32_t all_lanes = ~0u;

/// How a launch is executed.
struct run_options {
  uint64_t seed =
      0; ///< 0: warps and blocks in order, each until it waits; else a random order and random slices
  bool is_lazy = true;    ///< asynchronous work is done as late as it may, or as early
  bool has_checks = true; ///< races, reads before writes, fences
  bool has_counters = true;
  bool shuffles_blocks = false;
  int threads = 1; ///< of the host
  uint64_t most_instructions = uint64_t(1) << 40;
  bool has_peers = false;  ///< other devices may do what blocks wait for, and take their time
  uint32_t processors = 4; ///< that blocks are spread over
  std::string lines;       ///< a folder: NAME.lines in it gets those of kernel NAME that ran
};

struct warp {
  block *home = nullptr;
  uint16_t id = 0;
  bool is_done = false, must_yield = false;
  bool watches_registers = false; ///< products are in flight that use some
  uint32_t pc = 0;
  uint32_t live = 0, active = 0; ///< lanes that have not returned; that are at pc
  uint32_t executing = 0;        ///< active ones whose guard holds
  uint32_t merge = none;         ///< the next place where others wait to run with these
  const instruction *current = nullptr;
  uint8_t *registers = nullptr;
  uint8_t *local = nullptr; ///< [lane][local_bytes]
  uint32_t local_bytes = 0;
  uint32_t lane_pc[32] = {};
  std::vector<uint32_t> written; ///< masks of watched registers
  std::vector<uint32_t> returns[32];

  order seen;
  uint32_t sync = 1;  ///< grows at what orders lanes of a warp
  uint32_t stamp = 1; ///< grows at what orders accesses of the generic proxy
  int barrier = -1;   ///< waits at this one
  foreign_clocks fenced_device, fenced_system; ///< what a fence has made ready for a release
  foreign_clocks acquired;                     ///< what a fence will make known
  std::shared_ptr<async_state> async;
  counters *count = nullptr;

  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  template <class T> T *lanes(const operand &o) {
    return reinterpret_cast<T *>(registers + o.slot);
  }
  uint32_t &mask(const operand &o) { return *reinterpret_cast<uint32_t *>(registers + o.slot); }
  /// Of a source that is a predicate, or a number that stands for one.
  uint32_t truth(const operand &o) {
    uint32_t value = o.kind == operand::predicate ? mask(o) : lanes<uint32_t>(o)[0] ? all_lanes : 0;
    return o.is_negated ? ~value : value;
  }
  void set_mask(const operand &o, uint32_t value) {
    if (o.kind == operand::predicate)
      mask(o) = (mask(o) & ~executing) | (value & executing);
  }
  uint64_t address(const operand &o, int lane) {
    uint64_t base = o.width == 8 ? lanes<uint64_t>(o)[lane] : lanes<uint32_t>(o)[lane];
    return base + uint64_t(o.value);
  }
};

/// Calls f(lane) for lanes of a mask.
template <class F> inline void each_lane(uint32_t mask, F &&f) {
  if (mask == all_lanes) {
    for (int i = 0; i < 32; ++i)
      f(i);
    return;
  }
  while (mask) {
    int i = __builtin_ctz(mask);
    mask &= mask - 1;
    f(i);
  }
}

/// bar.sync and its like.
struct hardware_barrier {
  uint32_t arrived = 0;
  order seen;
};

/// One launch: what all of its blocks share.
struct launch_state {
  const program *code = nullptr;
  const memory_map *memory = nullptr;
  const run_options *options = nullptr;
  sync_points *points = nullptr;
  std::vector<uint8_t> parameters;
  std::vector<uint64_t> words; ///< to name buffers
  std::vector<std::pair<uint32_t, uint32_t>>
      live; ///< numbers of blocks of launches that ran when this began
  uint32_t blocks = 0, threads = 0, dynamic_bytes = 0, shared_bytes = 0;
  uint32_t first_block = 0;  ///< number of the first block in this process
  uint32_t oldest_block = 1; ///< no block with a lower number runs while this launch does
  int device = 0;
  std::atomic<uint64_t> progress{0};
  std::atomic<bool> must_stop{false};
  /// By instruction, whether a warp came to it; null: nobody asks.
  std::unique_ptr<std::atomic<bool>[]> reached;
};

struct block {
  launch_state *grid = nullptr;
  uint32_t index = 0;  ///< in the grid
  uint32_t serial = 0; ///< in the process
  uint32_t warp_count = 0;
  std::vector<uint8_t> shared; ///< from shared_base on, padded in front
  shared_shadow shadow;
  hardware_barrier barriers[16];
  std::vector<warp> warps;
  std::vector<uint8_t> arena, local;
  std::shared_ptr<async_block> async;
  counters count;
  uint64_t progress = 0; ///< grows whenever something happened that others may wait for
  allocation *last_allocation = nullptr; ///< that was used

  /// Begins the block with this index.
  void begin(launch_state &launch, uint32_t block_index, counters &into);
  /// Runs each warp that can for at most `budget` instructions. True when all have ended.
  bool run(uint64_t budget, std::mt19937_64 &random);
  /// Which warp waits for what.
  std::string waiting() const;

  const run_options &options() const { return *grid->options; }
};

void run_warp(warp &w, uint64_t budget);
/// Goes on with the lanes that are furthest behind.
void reconverge(warp &w);
/// A finding unless all lanes that have not returned execute this.
void need_convergence(warp &w);
/// What the warp did so far is known to whoever joins `to` from now on.
inline void release(warp &w, order &to) {
  to.join_with(w.seen);
  ++w.seen.warps[w.id];
}

} // namespace weft_emulated

#endif
