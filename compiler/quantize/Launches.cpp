//===- Launches.cpp ---------------------------------------------------------------------------===//

#include "compiler/quantize/Launches.h"

namespace weft {

double secondsMore(const Launches &base, const Launches &other) {
  struct Pair {
    Launches::Times base, other;
  };
  std::map<Launches::Key, Pair> pairs;
  for (const auto &[key, times] : base.times)
    pairs[key].base = times;
  for (const auto &[key, times] : other.times)
    pairs[key].other = times;
  double more = 0;
  for (const auto &[key, pair] : pairs)
    more += (pair.other.count - pair.base.count) * (pair.base.seconds + pair.other.seconds) /
            (pair.base.count + pair.other.count);
  return more;
}

} // namespace weft
