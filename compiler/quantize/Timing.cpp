//===- Timing.cpp -----------------------------------------------------------------------------===//

#include "compiler/quantize/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cmath>
#include <numeric>
#include <time.h>

namespace weft {
namespace {

constexpr double kCallSeconds = 4e-3, kTogetherSeconds = 0.8;
constexpr size_t kLeastTurns = 5, kMostTurns = 30;
constexpr double kSteady = 5e-4;    ///< of a call's time: noise that more turns need not lessen
constexpr double kLeastMore = 1e-3; ///< of a call's time: what differs less differs by nothing
constexpr double kNoises = 2;       ///< that a difference is more than
constexpr double kTimings = 40;     ///< that a search with little time has time for

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that grow while a call runs: those of the processor where one thread runs it, which do
/// not count what other programs do in the meantime.
double spent(unsigned threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// What the fastest of some calls took.
struct Turn {
  double seconds = INFINITY;
  Launches launches; ///< of the fastest that noted them
};

/// Of the calls that fit some time, but of one at least. Every other one notes what it launches, as
/// that costs short ones something, and so does the first, as there may be no other.
Result<Turn> turnOf(Session &session, const BoundCall &call, unsigned threads) {
  Turn turn;
  double leastNoted = INFINITY, begin = now();
  for (size_t i = 0; i == 0 || now() - begin < kCallSeconds; ++i) {
    bool notes = i == 0 || i % 2 == 1;
    session.note(notes);
    double before = spent(threads);
    Result<void> done = session.call(call);
    double taken = spent(threads) - before;
    if (!done)
      return done.diagnostics();
    if (notes && taken < leastNoted)
      turn.launches = session.launches(), leastNoted = taken;
    turn.seconds = std::min(turn.seconds, taken);
  }
  session.note(false);
  return turn;
}

double medianOf(std::vector<double> samples) {
  auto middle = samples.begin() + ptrdiff_t(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// How far another median of as many samples would be from this one.
double noiseOf(std::vector<double> samples) {
  double middle = medianOf(samples), count = double(samples.size());
  for (double &sample : samples)
    sample = std::fabs(sample - middle);
  return 2 * medianOf(std::move(samples)) / std::sqrt(count);
}

/// Turns of one call.
struct CallTurns {
  std::vector<double> base, other, more;

  /// Whether more turns would say the same.
  bool isSteady() const { return noiseOf(more) <= kSteady * medianOf(base); }
  double certainlyMore() const {
    double median = medianOf(more), least = kLeastMore * medianOf(base);
    return std::fabs(median) > std::max(kNoises * noiseOf(more), least) ? median : 0;
  }
};

size_t bytesOf(const Call &call) {
  size_t elements = 0;
  for (const CallTensor &tensor : call.tensors)
    elements += size_t(
        std::accumulate(tensor.dims.begin(), tensor.dims.end(), int64_t(1), std::multiplies<>()));
  return elements;
}

} // namespace

Result<Timed> timeInTurns(Session &base, Session &other, const std::vector<BoundCall> &calls,
                          const QuantizeOptions &options) {
  double together = kTogetherSeconds;
  if (options.seconds > 0)
    together = std::min(together, options.seconds / kTimings);
  std::vector<CallTurns> turns(calls.size());
  double begin = now();
  auto isEnough = [&](size_t count) {
    return count >= kMostTurns || now() - begin >= together ||
           llvm::all_of(turns, [](const CallTurns &each) { return each.isSteady(); });
  };
  for (size_t count = 0; count < kLeastTurns || !isEnough(count); ++count)
    for (size_t i = 0; i < calls.size(); ++i) {
      if (options.cancelled && options.cancelled())
        return quantizeError("W0399", "interrupted");
      Result<Turn> first = turnOf(base, calls[i], options.threads);
      Result<Turn> second = turnOf(other, calls[i], options.threads);
      if (!first || !second)
        return (first ? second : first).diagnostics();
      turns[i].base.push_back(first->seconds);
      turns[i].other.push_back(second->seconds);
      turns[i].more.push_back(secondsMore(first->launches, second->launches));
    }
  Timed all{0, 0, 0};
  for (const CallTurns &each : turns) {
    all.base += medianOf(each.base);
    all.other += medianOf(each.other);
    all.more += each.certainlyMore();
  }
  return all;
}

Result<std::vector<size_t>> timedCalls(const Calls &calls) {
  std::vector<std::pair<size_t, size_t>> sizes;
  for (size_t i = 0; i < calls.count; ++i) {
    Result<Call> call = calls.read(i);
    if (!call)
      return call.diagnostics();
    sizes.emplace_back(bytesOf(*call), i);
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<size_t> picked{sizes[sizes.size() / 2].second};
  if (sizes.back().first > sizes[sizes.size() / 2].first)
    picked.push_back(sizes.back().second);
  return picked;
}

} // namespace weft
