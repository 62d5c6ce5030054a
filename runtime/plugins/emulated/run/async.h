// Work that goes on beside a warp: copies to shared memory and matrix instructions.
#ifndef WEFT_EMULATED_RUN_ASYNC_H
#define WEFT_EMULATED_RUN_ASYNC_H

#include <deque>
#include <map>

#include "runtime/plugins/emulated/run/warp.h"

namespace weft_emulated {

/// A cp.async of one lane.
struct lane_copy {
  uint64_t from;
  uint32_t to, bytes, from_bytes;
};

struct lane_copies {
  std::vector<lane_copy> open;
  std::deque<std::vector<lane_copy>> groups;
};

/// Of one warp.
struct async_state {
  lane_copies copies[32];
};

/// Of one block.
struct async_block {
  std::vector<uint32_t> fenced; ///< by warp: accesses up to this stamp are known to the async proxy

  uint32_t proxy_stamp(uint32_t writer) const { return fenced[writer]; }
};

/// A finding when lanes end that have work on its way.
void check_end(warp &w);

inline async_state &async_of(warp &w) {
  if (!w.async)
    w.async = std::make_shared<async_state>();
  return *w.async;
}

} // namespace weft_emulated

#endif
