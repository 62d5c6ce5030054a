//===- Search.cpp -----------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include <map>
#include <cmath>

namespace weft {
namespace {

constexpr size_t kLossCalls = 16; ///< at most so many calls measure losses of single decisions
constexpr double kLeastGain = 0.005; ///< of the time: what saves less saves nothing

} // namespace

Result<void> Search::prepare() {
  Result<std::unique_ptr<Session>> compiled = Session::compile(module, options, "plain");
  if (!compiled)
    return compiled.diagnostics();
  plain = std::move(*compiled);
  Result<std::unique_ptr<Simulation>> simulated =
      Simulation::create(module, options, decisions);
  if (!simulated)
    return simulated.diagnostics();
  simulation = std::move(*simulated);
  Result<std::vector<size_t>> picked = timedCalls(options.calibration);
  if (!picked)
    return picked.diagnostics();
  for (size_t index : *picked) {
    Result<BoundCall> call = read(options.calibration, index);
    if (!call)
      return call.diagnostics();
    timed.push_back(std::move(*call));
  }
  return {};
}

Result<void> Search::run() {
  if (Result<void> done = measureLosses(); !done)
    return done;
  if (Result<void> done = measurePrices(); !done)
    return done;
  path = pathOf(prices);
  return choose();
}

Result<BoundCall> Search::read(const Calls &calls, size_t index) {
  if (options.cancelled && options.cancelled())
    return quantizeError("W0399", "interrupted");
  Result<Call> call = calls.read(index);
  if (!call)
    return call.diagnostics();
  return plain->bind(std::move(*call));
}

Result<std::vector<KeptOutput>> Search::expected(const BoundCall &call) {
  if (Result<void> done = plain->call(call); !done)
    return done.diagnostics();
  return keepOutputs(plain->outputs(), plain->outputs().size());
}

//===-- Losses --------------------------------------------------------------------------------===//

Result<void> Search::measureLosses() {
  std::vector<std::vector<AccuracySum>> sums;
  for (const Decision &decision : decisions)
    sums.emplace_back(decision.choices.size());
  size_t count = std::min(kLossCalls, options.calibration.count);
  for (size_t i = 0; i < count; ++i) {
    Result<BoundCall> call =
        read(options.calibration, i * options.calibration.count / count);
    if (!call)
      return call.diagnostics();
    if (Result<void> done = measureLossesOf(*call, sums); !done)
      return done;
    if (options.onProgress)
      options.onProgress("losses", i + 1, count);
  }
  for (const std::vector<AccuracySum> &choices : sums) {
    losses.emplace_back();
    for (const AccuracySum &sum : choices)
      losses.back().push_back({1 - sum.worst().cosine, lossOf(sum.worst(), options.budgets)});
  }
  return {};
}

/// Each choice of each decision alone.
Result<void> Search::measureLossesOf(const BoundCall &call,
                                     std::vector<std::vector<AccuracySum>> &sums) {
  Result<std::vector<KeptOutput>> wanted = expected(call);
  if (!wanted)
    return wanted.diagnostics();
  Strategy tried(decisions.size(), 0);
  for (size_t i = 0; i < decisions.size(); ++i) {
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      tried[i] = choice;
      if (Result<void> done = simulation->call(call, tried); !done)
        return done;
      sums[i][choice - 1].add(*wanted, simulation->outputs());
    }
    tried[i] = 0;
  }
  return {};
}

Result<AccuracySum> Search::simulate(const Strategy &tried) {
  AccuracySum sum;
  for (size_t i = 0; i < options.evaluation.count; ++i) {
    Result<BoundCall> call = read(options.evaluation, i);
    if (!call)
      return call.diagnostics();
    Result<std::vector<KeptOutput>> wanted = expected(*call);
    if (!wanted)
      return wanted.diagnostics();
    if (Result<void> done = simulation->call(*call, tried); !done)
      return done.diagnostics();
    sum.add(*wanted, simulation->outputs());
  }
  return sum;
}

Result<AccuracySum> Search::measure(Session &program) {
  AccuracySum sum;
  for (size_t i = 0; i < options.evaluation.count; ++i) {
    Result<BoundCall> call = read(options.evaluation, i);
    if (!call)
      return call.diagnostics();
    Result<std::vector<KeptOutput>> wanted = expected(*call);
    if (!wanted)
      return wanted.diagnostics();
    if (Result<void> done = program.call(*call); !done)
      return done.diagnostics();
    sum.add(*wanted, program.outputs());
  }
  return sum;
}

//===-- Prices --------------------------------------------------------------------------------===//

/// Decisions over equal layers change together: then what one saves is a part of something that is long enough to be timed, with conversions at
/// its borders and all that kernels take in there.
Result<void> Search::measurePrices() {
  std::map<std::string, size_t> known;
  std::vector<std::vector<size_t>> list;
  size_t work = 0, done = 0;
  for (size_t i = 0; i < decisions.size(); ++i) {
    auto [at, isNew] = known.emplace(kinds[i], list.size());
    if (isNew) {
      list.emplace_back();
      work += decisions[i].choices.size();
    }
    list[at->second].push_back(i);
  }
  prices.resize(decisions.size());
  for (const std::vector<size_t> &group : list)
    for (unsigned choice = 1; choice <= decisions[group[0]].choices.size(); ++choice) {
      Result<double> saving = priceOf(group, choice);
      if (!saving)
        return saving.diagnostics();
      for (size_t decision : group)
        prices[decision].push_back({losses[decision][choice - 1].budget,
                                    *saving / double(group.size())});
      if (options.onProgress)
        options.onProgress("prices", ++done, work);
    }
  return {};
}

Result<double> Search::priceOf(const std::vector<size_t> &group, unsigned choice) {
  Strategy tried(decisions.size(), 0);
  for (size_t decision : group)
    tried[decision] = choice;
  Result<Module> program = realised(module, decisions, tried);
  if (!program)
    return program.diagnostics();
  Result<std::unique_ptr<Session>> session = Session::compile(*program, options, "price");
  if (!session)
    return session.diagnostics();
  Result<Timed> taken = time(**session);
  if (!taken)
    return taken.diagnostics();
  plainSeconds = taken->base;
  double saving = taken->base - taken->other;
  return saving > std::max(taken->noise, kLeastGain * taken->base) ? saving : 0;
}

//===-- Choosing ------------------------------------------------------------------------------===//

Strategy Search::after(size_t steps) const {
  Strategy tried(decisions.size(), 0);
  for (size_t i = 0; i < steps; ++i)
    tried[path[i].decision] = path[i].choice;
  return tried;
}

double Search::latencyAfter(size_t steps) const {
  double saving = 0;
  for (size_t i = 0; i < steps; ++i)
    saving += path[i].saving;
  return plainSeconds > 0 ? 1 - saving / plainSeconds : 1;
}

double Search::predictedLatency() const {
  double saving = 0;
  for (size_t i = 0; i < decisions.size(); ++i)
    saving += strategy[i] ? savingOfChoice(i, strategy[i]) : 0;
  return plainSeconds > 0 ? 1 - saving / plainSeconds : 1;
}

/// The most steps that keep the accuracy, or the fewest that keep the latency where nothing else is asked for. Losses add up only about, so
/// whole strategies are measured; more steps lose more.
Result<void> Search::choose() {
  size_t most = path.size(), least = 0;
  bool asksAccuracy = false;
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.metric == QuantizeBudget::Latency)
      while (least < path.size() && latencyAfter(least) > budget.bound)
        ++least;
    else
      asksAccuracy = true;
  if (!asksAccuracy)
    most = least;
  size_t low = 0, high = most, tries = 0;
  while (asksAccuracy && low < high) {
    size_t middle = tries == 0 ? high : low + (high - low + 1) / 2; // all of them, first
    Result<AccuracySum> sum = simulate(after(middle));
    if (!sum)
      return sum.diagnostics();
    if (options.onProgress)
      options.onProgress("strategies", ++tries, size_t(std::log2(double(most) + 1)) + 2);
    if (holds(sum->worst(), options.budgets))
      low = middle;
    else
      high = middle - 1;
  }
  size_t steps = asksAccuracy ? low : most;
  strategy = after(steps);
  reached = steps >= least;
  Result<AccuracySum> sum = simulate(strategy);
  if (!sum)
    return sum.diagnostics();
  accuracy = sum->worst();
  return {};
}

} // namespace weft
