// Work that goes on beside a warp: copies to shared memory and matrix instructions.
#ifndef WEFT_EMULATED_RUN_ASYNC_H
#define WEFT_EMULATED_RUN_ASYNC_H

#include <deque>
#include <functional>
#include <list>
#include <map>

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

/// A cp.async of a warp.
struct warp_copy {
  uint32_t lanes; ///< that have not waited for it
  uint32_t bytes;
  uint64_t from[32];
  uint32_t to[32], from_bytes[32];
  uint32_t group[32]; ///< how many groups each lane had committed before
};

/// A matrix instruction of a warpgroup that is on its way: what one warp computes of it.
struct group_product {
  const instruction *i;
  uint64_t a, b;   ///< descriptors
  uint32_t scales; ///< lanes that keep their sums
};

/// Of one warp.
struct async_state {
  std::list<warp_copy> copies; ///< on their way, in the order of their issue
  std::list<warp_copy> landed; ///< to be used again
  uint32_t committed[32] = {}; ///< groups of copies, by lane
  std::vector<group_product> open;
  std::deque<std::vector<group_product>> groups;
  bool is_fenced = false;      ///< wgmma.fence came since registers were used
  std::vector<bool> registers; ///< by a quarter of its slot, whether products in flight use it
  uint32_t bulk_stores = 0;    ///< that nobody waited for

  void use(uint32_t slot) {
    if (slot / 4 >= registers.size())
      registers.resize(slot / 4 + 1);
    registers[slot / 4] = true;
  }
  bool uses(uint32_t slot) const { return slot / 4 < registers.size() && registers[slot / 4]; }
};

/// An object that threads arrive at and bytes are counted in.
struct memory_barrier {
  uint32_t expected = 0, pending = 0;
  uint32_t phase = 0;
  int64_t bytes = 0; ///< that are still to come
  bool was_asked = false;
  order seen;
  std::vector<std::function<void()>> landing; ///< copies that will land
};

/// Of one block.
struct async_block {
  std::vector<uint32_t> fenced; ///< by warp: accesses up to this stamp are known to the async proxy

  std::map<uint32_t, memory_barrier> barriers; ///< by address
  uint32_t copy_clock = 0; ///< of the engine that copies in bulk, which is the warp behind the last

  uint32_t proxy_stamp(uint32_t writer) const { return fenced[writer]; }
};

/// A phase of a barrier ends when all have arrived and all bytes have come.
void complete_phase(block &b, memory_barrier &barrier);
/// A finding when an instruction uses a register of a product in flight.
void check_registers(warp &w, const instruction &i);
/// A finding when lanes end that have work on its way.
void check_end(warp &w);

inline async_state &async_of(warp &w) {
  if (!w.async)
    w.async = std::make_shared<async_state>();
  return *w.async;
}

} // namespace weft_emulated

#endif
