//===- Launches.h - What the launches of one call took ----------------------------------------===//
//
//   double more = secondsMore(base->launches(), other->launches());   // 0: both launch the same
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_LAUNCHES_H
#define WEFT_COMPILER_QUANTIZE_LAUNCHES_H

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace weft {

/// By kernel, units, operations and bytes: equal ones run the same code on the same sizes.
struct Launches {
  using Key = std::tuple<std::string, int64_t, int64_t, int64_t>;
  struct Times {
    double count = 0, seconds = 0;
  };
  std::map<Key, Times> times;
};

/// That the other's launches take more. What both launch takes both the same, whatever a clock says
/// of it: only what one launches more often than the other counts.
double secondsMore(const Launches &base, const Launches &other);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_LAUNCHES_H
