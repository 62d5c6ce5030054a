//===- Deadline.h - How much of a search's time is left ---------------------------------------===//
//
//   Deadline deadline(options.seconds);
//   if (deadline.isOver(Deadline::kLosses)) …             // this phase has had its part
//
// Phases may use time up to their share of the whole, so that the last ones have some, too. Each
// does the least that its result needs, however late it is.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_DEADLINE_H
#define WEFT_COMPILER_QUANTIZE_DEADLINE_H

#include <chrono>

namespace weft {

class Deadline {
public:
  /// What may have passed when a phase ends.
  static constexpr double kObserve = 0.15, kObserveCounts = 0.3, kMoments = 0.35, kLosses = 0.5,
                          kSmallWeights = 0.55, kPrices = 0.8, kStrategies = 0.95;

  /// From now on; 0: there is any time.
  explicit Deadline(double seconds) : seconds(seconds) {}

  bool isOver(double share) const {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return seconds > 0 && passed.count() >= share * seconds;
  }

private:
  double seconds;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_DEADLINE_H
