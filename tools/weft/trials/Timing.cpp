//===- Timing.cpp -----------------------------------------------------------------------------===//

#include "tools/weft/trials/Timing.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/TimedCalls.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace weft::cli {
namespace {

constexpr double kTurnSeconds = 0.02, kTogetherSeconds = 1.5;
constexpr size_t kAloneTurns = 3, kLeastTurns = 6, kMostTurns = 100;
constexpr double kMostCallsTold = 100; ///< at once

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

double medianOf(std::vector<double> samples) {
  auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Result<std::unique_ptr<TimedModel>> TimedModel::open(const std::string &path,
                                                     const TimedSetup &setup) {
  Result<Artifact> opened = Artifact::open(path, false);
  return opened ? open(*opened, setup, nullptr) : opened.failure();
}

Result<std::unique_ptr<TimedModel>> TimedModel::open(const Artifact &artifact,
                                                     const TimedSetup &setup, weft_group_t *group) {
  std::unique_ptr<TimedModel> timed(new TimedModel);
  timed->model = artifact;
  Result<FunctionView> found = timed->model.function(setup.function);
  if (!found)
    return found.failure();
  timed->function = found->index;
  weft_context_options_t wanted{};
  wanted.struct_size = sizeof wanted;
  wanted.threads = static_cast<int32_t>(setup.threads);
  wanted.spin_us = -1;
  wanted.group = group;
  Result<Context> context = timed->model.createContext(wanted);
  if (!context)
    return context.failure();
  timed->context = *context;
  auto note = [](void *user, const weft_trace_event_t *event) {
    static_cast<std::vector<weft_trace_event_t> *>(user)->push_back(*event);
  };
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_context_trace(timed->context.get(), note, &timed->events, &error))
    return failureOf(error);
  for (const Inputs &inputs : setup.sizes) {
    Calls &calls = timed->calls.emplace_back();
    Result<CallInputs> roomy = callInputsOfRank(*found, inputs, group ? weft_group_rank(group) : 0);
    if (!roomy)
      return roomy.failure();
    calls.inputs = std::move(*roomy);
    calls.outputs.assign(found->outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
  }
  timed->forgetSamples();
  return timed;
}

TimedModel::~TimedModel() {
  for (Calls &each : calls)
    for (weft_tensor_t &output : each.outputs)
      weft_tensor_release(context.get(), &output);
}

void TimedModel::forgetSamples() {
  for (Calls &each : calls) {
    each.samples = {};
    each.samples.kernels.resize(model.info().kernels);
  }
}

double TimedModel::turnSeconds() const {
  double seconds = 0;
  for (const Calls &each : calls)
    seconds += each.turn;
  return seconds;
}

Result<double> TimedModel::call(Calls &calls, InterruptGuard &guard) {
  events.clear();
  return timeCalls(guard, context.get(), function, calls.inputs.views, calls.outputs);
}

weft_status_t TimedModel::follow(size_t size, int64_t count, weft_error_t *error) {
  Calls &each = calls[size];
  weft_status_t status = WEFT_OK;
  for (int64_t i = 0; i < count && !status; ++i) {
    events.clear();
    status =
        weft_call_function(context.get(), function, each.inputs.views.data(),
                           static_cast<uint32_t>(each.inputs.views.size()), each.outputs.data(),
                           static_cast<uint32_t>(each.outputs.size()), error);
  }
  return status;
}

void TimedModel::keepLeast(std::vector<double> &least) const {
  std::vector<double> seconds(least.size(), 0.0);
  for (const weft_trace_event_t &event : events)
    seconds[event.kernel] += 1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
  for (size_t kernel = 0; kernel < least.size(); ++kernel)
    least[kernel] = std::min(least[kernel], seconds[kernel]);
}

Result<Done> TimedModel::turn(size_t size, InterruptGuard &guard) {
  Calls &each = calls[size];
  double begin = now(), fastest = INFINITY;
  std::vector<double> least(each.samples.kernels.size(), INFINITY);
  double left = kTurnSeconds;
  for (int64_t counted = -1; counted < 1 || left > 0; left = kTurnSeconds - (now() - begin)) {
    auto count = static_cast<int64_t>(
        counted < 0 ? 2 : std::clamp(left / std::max(fastest, 1e-9), 1.0, kMostCallsTold));
    if (Result<Done> told = tell ? tell(size, count) : Result<Done>(Done{}); !told)
      return told;
    for (int64_t i = 0; i < count; ++i, ++counted) {
      Result<double> seconds = call(each, guard);
      if (!seconds)
        return seconds.failure();
      if (counted < 0) // it grows memory, and ranks come to it one after the other
        continue;
      fastest = std::min(fastest, *seconds);
      keepLeast(least);
    }
  }
  each.turn = now() - begin;
  each.samples.whole.push_back(fastest);
  for (size_t kernel = 0; kernel < least.size(); ++kernel)
    each.samples.kernels[kernel].push_back(least[kernel]);
  return Done{};
}

Result<std::vector<HostTensor>> TimedModel::outputs(size_t size) const {
  std::vector<HostTensor> tensors;
  for (const weft_tensor_t &output : calls[size].outputs) {
    Result<HostTensor> tensor = withoutGaps(output, context);
    if (!tensor)
      return tensor.failure();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Result<Done> timeAlone(TimedModel &model, InterruptGuard &guard) {
  model.forgetSamples();
  for (size_t turn = 0; turn < kAloneTurns; ++turn)
    for (size_t size = 0; size < model.sizes(); ++size)
      if (Result<Done> done = model.turn(size, guard); !done)
        return done;
  return Done{};
}

Result<Done> timeTogether(TimedModel &base, TimedModel &other, InterruptGuard &guard) {
  base.forgetSamples();
  other.forgetSamples();
  double begin = now();
  for (size_t turns = 0;
       turns < kLeastTurns || (turns < kMostTurns && now() - begin < kTogetherSeconds); ++turns)
    for (size_t size = 0; size < base.sizes(); ++size)
      for (TimedModel *each : {&base, &other})
        if (Result<Done> done = each->turn(size, guard); !done)
          return done;
  return Done{};
}

double togetherSeconds(double turnSeconds) {
  return std::max(kTogetherSeconds, turnSeconds * double(kLeastTurns)) + turnSeconds;
}

Gain gainOf(const std::vector<double> &base, const std::vector<double> &other) {
  double all = medianOf(base);
  if (!(all > 0))
    return {0, 0};
  std::vector<double> even, odd;
  for (size_t i = 0; i < base.size(); ++i)
    (i % 2 ? odd : even).push_back(base[i]);
  double noise = odd.empty() ? 0 : std::fabs(medianOf(even) - medianOf(odd)) / all;
  return {100 * (1 - medianOf(other) / all), 100 * noise};
}

Gain gainOfCalls(const std::vector<double> &base, const std::vector<double> &other) {
  Gain gain = gainOf(base, other);
  double fast[2] = {};
  for (int i : {0, 1}) {
    std::vector<double> sorted = i ? other : base;
    std::sort(sorted.begin(), sorted.end());
    fast[i] = sorted[sorted.size() / 4];
    double middle = sorted[sorted.size() * 3 / 4] - fast[i];
    if (double median = sorted[sorted.size() / 2]; median > 0)
      gain.noise = std::max(gain.noise, 100 * middle / 2 / median);
  }
  if (fast[0] > 0)
    gain.percent = std::min(gain.percent, 100 * (1 - fast[1] / fast[0]));
  return gain;
}

} // namespace weft::cli
