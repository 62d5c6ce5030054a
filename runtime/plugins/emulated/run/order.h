// What happened before what: vector clocks.
//
// Within a block each warp counts, and knows how far it has seen the others. Of other blocks, also those of other devices, a warp knows what
// came to it through a release and an acquire: seldom anything, so that is a map.
#ifndef WEFT_EMULATED_RUN_ORDER_H
#define WEFT_EMULATED_RUN_ORDER_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace weft_emulated {

using warp_clocks = std::vector<uint32_t>;
/// By the number of a block in this process.
using foreign_clocks = std::shared_ptr<const std::map<uint32_t, warp_clocks>>;

inline void join(warp_clocks &to, const warp_clocks &from) {
  if (to.size() < from.size())
    to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

inline void join(foreign_clocks &to, const foreign_clocks &from) {
  if (!from || to == from)
    return;
  if (!to) {
    to = from;
    return;
  }
  auto both = std::make_shared<std::map<uint32_t, warp_clocks>>(*to);
  for (const auto &[block, clocks] : *from)
    join((*both)[block], clocks);
  to = both;
}

/// What a warp has seen.
struct order {
  warp_clocks warps;
  foreign_clocks blocks;

  void join_with(const order &other) {
    join(warps, other.warps);
    join(blocks, other.blocks);
  }
};

} // namespace weft_emulated

#endif
