#include "runtime/plugins/emulated/run/async.h"

namespace weft_emulated {

void check_end(warp &w) {
  each_lane(w.executing, [&](int k) {
    const lane_copies &copies = w.async->copies[k];
    bool is_waiting = !copies.open.empty();
    for (const auto &group : copies.groups)
      is_waiting |= !group.empty();
    if (is_waiting)
      stop(w, k, "ends while a cp.async is on its way that it never waited for");
  });
}

} // namespace weft_emulated
