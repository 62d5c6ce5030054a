// A warp's instructions, one after the other.
//
// Lanes carry their own places; those with the lowest run, and others join when they come to the same. So code that lies in front, as the
// functions do that a kernel calls, is left before code behind it goes on.
#include "runtime/plugins/emulated/run/warp.h"
#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

void reconverge(warp &w) {
  each_lane(w.active, [&](int i) { w.lane_pc[i] = w.pc; });
  uint32_t lowest = warp::none;
  each_lane(w.live, [&](int i) { lowest = std::min(lowest, w.lane_pc[i]); });
  w.active = 0;
  w.merge = warp::none;
  each_lane(w.live, [&](int i) {
    if (w.lane_pc[i] == lowest)
      w.active |= 1u << i;
    else
      w.merge = std::min(w.merge, w.lane_pc[i]);
  });
  w.pc = lowest;
}

void need_convergence(warp &w) {
  if (w.executing == w.live)
    return;
  stop(w, -1,
       "only " + std::to_string(__builtin_popcount(w.executing)) + " of " +
           std::to_string(__builtin_popcount(w.live)) +
           " lanes execute this, which all of a warp must execute together");
}

/// Registers that may be read before they were written: only those that the analysis of the code could not clear.
static void watch(warp &w, const instruction &i) {
  const program &code = *w.home->grid->code;
  for (uint32_t k = 0; k < i.read_count; ++k)
    if (uint32_t missing = w.executing & ~w.written[code.watched[i.reads + k]])
      stop(w, __builtin_ctz(missing), "reads a register that was never written");
  for (uint32_t k = 0; k < i.write_count; ++k)
    w.written[code.watched[i.writes + k]] |= w.executing;
}

/// `notes`: where the warp comes is noted.
template <bool notes> static void run(warp &w, uint64_t budget) {
  const instruction *code = w.home->grid->code->code.data();
  bool has_checks = w.home->options().has_checks;
  counters &count = *w.count;
  while (budget-- && !w.is_done && !w.must_yield) {
    const instruction &i = code[w.pc];
    if constexpr (notes)
      w.home->grid->reached[w.pc].store(true, std::memory_order_relaxed);
    uint32_t mask = w.active;
    if (i.guard >= 0) {
      uint32_t guard = *reinterpret_cast<uint32_t *>(w.registers + i.guard);
      mask &= i.is_guard_negated ? ~guard : guard;
    }
    w.executing = mask;
    w.current = &i;
    ++w.pc;
    ++count.instructions;
    ++count.by_unit[size_t(i.counted)];
    count.lanes += uint32_t(__builtin_popcount(mask));
    if (mask) {
      if (i.is_watched && has_checks)
        watch(w, i);
      if (w.watches_registers)
        check_registers(w, i);
      i.run(w, i);
    }
    if (w.pc >= w.merge)
      reconverge(w);
  }
}

void run_warp(warp &w, uint64_t budget) {
  w.home->grid->reached ? run<true>(w, budget) : run<false>(w, budget);
}

} // namespace weft_emulated
