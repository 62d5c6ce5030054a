//===- Timing.h - Kernels of two artifacts of one model, timed side by side -------------------===//
//
//   Result<std::unique_ptr<TimedModel>> base = TimedModel::open(path, setup), other = …;
//   Result<Done> done = timeTogether(**base, **other, guard);
//   double gain = gainOf((*base)->samples(size), (*other)->samples(size), kernel).percent;
//
// Kernels are timed where they are used: in calls of the whole model, with its data and what the
// caches hold then. Artifacts take turns, so what disturbs the machine disturbs both. Where ranks
// call a model together, rank 0 times it, and tells the others in front of its calls.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_TIMING_H
#define WEFT_TOOLS_WEFT_TRIALS_TIMING_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Room.h"
#include "weft/group.h"

#include <functional>

namespace weft::cli {

/// What all artifacts of the model are called with.
struct TimedSetup {
  std::string function;
  int64_t threads = 1;
  std::vector<Inputs> sizes;
};

/// Seconds by turn: of the call, and by kernel of what it spends in that kernel. A turn's time is
/// that of its fastest call.
struct TimedSamples {
  std::vector<double> whole;
  std::vector<std::vector<double>> kernels;
};

class TimedModel {
public:
  static Result<std::unique_ptr<TimedModel>> open(const std::string &path, const TimedSetup &setup);
  /// The same of an open artifact, on a rank of the group; null: alone. It ends before its group.
  static Result<std::unique_ptr<TimedModel>> open(const Artifact &artifact, const TimedSetup &setup,
                                                  weft_group_t *group);
  TimedModel(const TimedModel &) = delete;
  TimedModel &operator=(const TimedModel &) = delete;
  ~TimedModel();

  const Artifact &artifact() const { return model; }
  size_t sizes() const { return calls.size(); }
  /// Calls with a size for a while, but once at least behind a call that does not count.
  Result<Done> turn(size_t size, InterruptGuard &guard);
  const TimedSamples &samples(size_t size) const { return calls[size].samples; }
  void forgetSamples();
  /// Called in front of calls: how many follow, and with which size.
  using Tell = std::function<Result<Done>(size_t size, int64_t calls)>;
  void tellOthers(Tell others) { tell = std::move(others); }
  /// Calls that nobody times, as other ranks make them.
  weft_status_t follow(size_t size, int64_t count, weft_error_t *error);
  /// Seconds that a turn over all sizes takes, as the latest ones did.
  double turnSeconds() const;
  /// Results of the latest call; they live as long as this.
  Result<std::vector<HostTensor>> outputs(size_t size) const;
  /// The same as the runtime gave them.
  const std::vector<weft_tensor_t> &rawOutputs(size_t size) const { return calls[size].outputs; }

private:
  struct Calls {
    CallInputs inputs;
    std::vector<weft_tensor_t> outputs;
    TimedSamples samples;
    double turn = 0; ///< seconds
  };
  TimedModel() = default;
  Result<double> call(Calls &calls, InterruptGuard &guard);
  /// Keeps what the latest call spent in each kernel, where that is less.
  void keepLeast(std::vector<double> &least) const;

  Artifact model;
  Context context;
  int32_t function = 0;
  std::vector<Calls> calls; ///< by size
  Tell tell;
  std::vector<weft_trace_event_t> events;
};

/// A few turns over all sizes. Samples of before are forgotten.
Result<Done> timeAlone(TimedModel &model, InterruptGuard &guard);
/// Turns of both, one after the other, over all sizes, until a time is over but several at least.
/// Samples of before are forgotten.
Result<Done> timeTogether(TimedModel &base, TimedModel &other, InterruptGuard &guard);
/// About what that takes, when a turn of both together over all sizes takes so long.
double togetherSeconds(double turnSeconds);

/// How much less time the other takes, and how far two halves of the base's own samples are apart,
/// both in percent of the base's.
struct Gain {
  double percent, noise;
};
Gain gainOf(const std::vector<double> &base, const std::vector<double> &other);
/// The same of whole calls, in which all ranks and what disturbs one of them have a part: what both
/// the median and the fastest quarter gain, and as noise also half of what the middle half of
/// either's samples is apart.
Gain gainOfCalls(const std::vector<double> &base, const std::vector<double> &other);

double medianOf(std::vector<double> samples);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TRIALS_TIMING_H
