//===- Timing.cpp -----------------------------------------------------------------------------===//

#include "compiler/quantize/Timing.h"
#include <chrono>
#include <cmath>
#include <numeric>
#include <time.h>

namespace weft {
namespace {

constexpr double kCallSeconds = 4e-3, kTogetherSeconds = 0.8;
constexpr size_t kLeastTurns = 5, kSteadyTurns = 10, kMostTurns = 30;
constexpr double kSteady = 1e-3; ///< of the time: what medians of half the turns may differ by
constexpr double kTimings = 40;  ///< that a search with little time has time for

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

/// The fastest of the calls that fit some time, but of one at least.
Result<double> fastest(Session &session, const BoundCall &call, unsigned threads) {
  double begin = now(), best = INFINITY;
  do {
    double before = spent(threads);
    if (Result<void> done = session.call(call); !done)
      return done.diagnostics();
    best = std::min(best, spent(threads) - before);
  } while (now() - begin < kCallSeconds);
  return best;
}

double medianOf(std::vector<double> samples) {
  auto middle = samples.begin() + ptrdiff_t(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// How far the medians of every other turn and of the rest are apart.
double noiseOf(const std::vector<double> &samples) {
  std::vector<double> even, odd;
  for (size_t i = 0; i < samples.size(); ++i)
    (i % 2 ? odd : even).push_back(samples[i]);
  return std::fabs(medianOf(std::move(even)) - medianOf(std::move(odd)));
}

/// Whether more turns would say the same.
bool isSteady(const std::vector<double> &samples) {
  return samples.size() >= kSteadyTurns && noiseOf(samples) <= kSteady * medianOf(samples);
}

size_t bytesOf(const Call &call) {
  size_t elements = 0;
  for (const CallTensor &tensor : call.tensors)
    elements += size_t(
        std::accumulate(tensor.dims.begin(), tensor.dims.end(), int64_t(1), std::multiplies<>()));
  return elements;
}

} // namespace

Result<Timed> timeInTurns(Session &base, Session &other, const std::vector<BoundCall> &calls,
                          const QuantizeOptions &options, double patience) {
  double together = patience * kTogetherSeconds;
  if (options.seconds > 0)
    together = std::min(together, options.seconds / kTimings);
  std::vector<double> samples[2];
  double begin = now();
  auto isEnough = [&](size_t turns) {
    return turns >= kMostTurns || now() - begin >= together ||
           (isSteady(samples[0]) && isSteady(samples[1]));
  };
  for (size_t turn = 0; turn < kLeastTurns || !isEnough(turn); ++turn)
    for (Session *session : {&base, &other}) {
      double sum = 0;
      for (const BoundCall &call : calls) {
        if (options.cancelled && options.cancelled())
          return quantizeError("W0399", "interrupted");
        Result<double> seconds = fastest(*session, call, options.threads);
        if (!seconds)
          return seconds.diagnostics();
        sum += *seconds;
      }
      samples[session == &other].push_back(sum);
    }
  return Timed{medianOf(samples[0]), medianOf(samples[1]), noiseOf(samples[0])};
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
