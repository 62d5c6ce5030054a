#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

void complete_phase(block &b, memory_barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.phase ^= 1;
  barrier.pending = barrier.expected;
  ++b.progress;
}

static void check_operand(warp &w, const async_state &state, const operand &o) {
  if (o.kind == operand::lanes && !o.is_constant && state.uses(o.slot))
    stop(w, -1, "uses a register of a wgmma in flight, before wgmma.wait_group");
  for (uint32_t q = 0; o.kind == operand::vector && q < o.count; ++q)
    check_operand(w, state, o.parts[q]);
}

void check_registers(warp &w, const instruction &i) {
  if (i.counted == unit::tensor)
    return;
  for (uint8_t k = 0; k < i.operands; ++k)
    check_operand(w, *w.async, i.o[k]);
}

void check_end(warp &w) {
  if (!w.async->open.empty() || !w.async->groups.empty())
    stop(w, -1, "ends while a wgmma is on its way that it never waited for");
  if (w.async->bulk_stores)
    stop(w, -1, "ends while a bulk copy still reads shared memory, and never waited for it");
  for (const warp_copy &copy : w.async->copies)
    if (uint32_t waiting = copy.lanes & w.executing)
      stop(w, __builtin_ctz(waiting),
           "ends while a cp.async is on its way that it never waited for");
}

} // namespace weft_emulated
