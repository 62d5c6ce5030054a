//===- TuneSearch.cpp -------------------------------------------------------------------------===//

#include "tools/weft/tune/TuneSearch.h"
#include "tools/weft/cli/Compare.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace weft::cli {
namespace {

constexpr double kLeastShare = 0.005; ///< of the time: what takes less is not tried
constexpr double kOutputTolerance =
    1e-3; ///< sums may be rounded in another order, a fault is larger
constexpr double kHalfTolerance =
    0.1; ///< the same where that changes a rounding to 16 bits, which layers multiply

/// Of the kernel or exchange that records know by the key; null: there is none of it with these picks.
const ExplainedChoices *choicesIn(const Explanation &explained, const std::string &key) {
  for (const ExplainedKernel &call : explained.kernels)
    if (call.chosen.kernel == key)
      return &call.chosen;
  for (const ExplainedExchange &exchange : explained.exchanges)
    if (exchange.chosen.kernel == key)
      return &exchange.chosen;
  return nullptr;
}

bool hasChoices(const ExplainedChoices &chosen) {
  return !chosen.choices.empty() || chosen.schedules.size() > 1;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string formatted(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof text, format, value);
  return text;
}

/// Of what is finite; errors of small outputs are a part of that.
double largestOf(const HostTensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.count(); ++i)
    if (double size = std::fabs(tensor.get(i)); std::isfinite(size))
      largest = std::max(largest, size);
  return largest;
}

} // namespace

TuneSearch::TuneSearch(const Module &module, const CompileOptions &compile,
                       const TuneRequest &request, Trials &trials, Console &console)
    : module(module), compile(compile), request(request), trials(trials), console(console),
      floatTolerance(kOutputTolerance), begin(now()) {}

double TuneSearch::elapsed() const { return now() - begin; }
bool TuneSearch::hasTimeFor(int rounds) const {
  return elapsed() + rounds * roundSeconds <= request.budget;
}

Result<Done> TuneSearch::run() {
  if (Result<Done> done = prepare(); !done)
    return done;
  std::set<std::string> active;
  for (const TunedKernel &kernel : all)
    active.insert(kernel.key);
  if (!active.empty() && !hasTimeFor(1 + closingRounds()))
    return Failure{ExitWrongUsage,
                   "a budget of " + formatted("%.0f s", request.budget) +
                       " is too small: to compile and measure once takes " +
                       formatted("%.0f s", std::ceil(roundSeconds)),
                   "--budget " + formatted("%.0fs", std::ceil(elapsed() + 6 * roundSeconds)), ""};
  while (!active.empty() && !budgetEnded)
    if (Result<Done> done = improve(active); !done)
      return done;
  return confirm();
}

//===-- Once, as estimated ------------------------------------------------------------------===//

Result<Done> TuneSearch::prepare() {
  Result<TemporaryFolder> made = TemporaryFolder::create();
  if (!made)
    return made.failure();
  folder = *made;
  Result<std::string> path = compileFile({});
  if (!path)
    return path.failure();
  if (Result<Done> done = prepareSizes(*path); !done)
    return done;
  Result<Compiled> opened = trials.open(*path, setup);
  if (!opened)
    return opened.failure();
  estimated = std::move(*opened);
  Result<Tried> tried = trials.timeAlone(*estimated, request.budget);
  if (!tried)
    return tried.failure();
  if (!tried->failed.empty())
    return Failure{ExitMachineLacks, "as estimated, the model cannot be timed: " + tried->failed,
                   "", ""};
  if (Result<Done> done = rankKernels(); !done)
    return done;
  roundSeconds = elapsed() + togetherSeconds(2 * estimated->turnSeconds());
  auto exchanges = std::count_if(all.begin(), all.end(),
                                 [](const TunedKernel &each) { return each.isExchange; });
  console.say("  " + std::to_string(rows.size()) + " kernels, " +
              std::to_string(ptrdiff_t(all.size()) - exchanges) + " of them with choices" +
              (exchanges ? ", and " + std::to_string(exchanges) +
                               (exchanges == 1 ? " exchange" : " exchanges")
                         : "") +
              "; a call takes " + printSeconds(medianOf(estimated->samples(0).whole)) +
              (trials.knowsKernels() ? "" : ", score " + printScore(estimated->costs(0)[0])) +
              (sizeTexts[0] == "-" ? "" : " at " + sizeTexts[0]));
  return Done{};
}

Result<Done> TuneSearch::prepareSizes(const std::string &path) {
  Result<Artifact> artifact = Artifact::describe(path);
  if (!artifact)
    return artifact.failure();
  Result<FunctionView> function = artifact->function("");
  if (!function)
    return function.failure();
  setup.function = function->signature.function;
  setup.threads = request.threads;
  InputRequest wanted = request.inputs;
  for (const SymbolValues &dims : request.sizes) {
    wanted.dims = dims;
    Result<Inputs> inputs = prepareInputs(wholeSignature(*function), wanted);
    if (!inputs)
      return inputs.failure();
    std::string text;
    for (const SymbolSpec &symbol : function->signature.symbols)
      if (auto value = inputs->symbols.find(symbol.name); value != inputs->symbols.end())
        text += (text.empty() ? "" : " ") + symbol.name + "=" + std::to_string(value->second);
    sizeTexts.push_back(text.empty() ? "-" : text);
    setup.sizes.push_back(std::move(*inputs));
  }
  sayAssumed(console, setup.sizes[0].assumed);
  return Done{};
}

/// Kernels that take time and have something to choose, by their time.
Result<Done> TuneSearch::rankKernels() {
  Result<Explanation> explained = explainWith({});
  if (!explained)
    return explained.failure();
  recordScope = explained->scope;
  std::vector<KernelView> listed = estimated->artifact().kernels();
  for (const ExplainedKernel &call : explained->kernels) {
    if (call.hasHalves)
      floatTolerance = kHalfTolerance;
    if (!rows.emplace(call.chosen.kernel, 0).second)
      continue;
    auto row = std::find_if(listed.begin(), listed.end(),
                            [&](const KernelView &view) { return view.name == call.symbol; });
    if (row == listed.end())
      return Failure{ExitInternalError, "kernel '" + call.symbol + "' is not in its artifact", "",
                     ""};
    size_t kernel = rows[call.chosen.kernel] = size_t(row - listed.begin());
    double share = 0;
    for (size_t size = 0; size < setup.sizes.size(); ++size) {
      const TimedSamples &samples = estimated->samples(size);
      share +=
          medianOf(samples.kernels[kernel]) / medianOf(samples.whole) / double(setup.sizes.size());
    }
    if (share < kLeastShare || !hasChoices(call.chosen))
      continue;
    TunedKernel &tuned = all.emplace_back();
    tuned.key = call.chosen.kernel;
    tuned.name = call.symbol;
    tuned.schedule = call.schedule;
    tuned.nodes = row->nodes;
    tuned.share = share;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TunedKernel &a, const TunedKernel &b) { return a.share > b.share; });
  addExchanges(*explained);
  return Done{};
}

/// Behind all kernels; equal ones once.
void TuneSearch::addExchanges(const Explanation &explained) {
  for (const ExplainedExchange &each : explained.exchanges) {
    if (!hasChoices(each.chosen))
      continue;
    auto known = std::find_if(all.begin(), all.end(), [&](const TunedKernel &kernel) {
      return kernel.key == each.chosen.kernel;
    });
    if (known == all.end()) {
      known = all.emplace(all.end());
      known->key = each.chosen.kernel;
      known->name = each.kind;
      known->schedule = each.chosen.schedules.front();
      known->isExchange = true;
    }
    known->nodes.push_back(each.node);
  }
}

bool TuneSearch::isExchange(const std::string &key) const {
  return std::any_of(all.begin(), all.end(), [&](const TunedKernel &kernel) {
    return kernel.key == key && kernel.isExchange;
  });
}

//===-- Compiling with picks ------------------------------------------------------------------===//

/// Records that nobody keeps: they carry picks to the compiler as any others.
Result<Done> TuneSearch::writeRecords(const PickMap &picks) {
  compile.tuningFiles.clear();
  if (picks.empty())
    return Done{};
  std::vector<TuningRecord> records;
  for (const auto &[key, each] : picks)
    records.push_back({hostProcessor(), recordScope, key, each, "-", 1, 0});
  std::string path = folder->path() + "/trial.tuning";
  std::ofstream file(path, std::ios::trunc);
  file << printRecords(records);
  file.close();
  if (!file)
    return Failure{ExitMachineLacks, "cannot write '" + path + "'", "", ""};
  compile.tuningFiles = {path};
  return Done{};
}

Result<std::string> TuneSearch::compileFile(const PickMap &picks) {
  if (Result<Done> done = writeRecords(picks); !done)
    return done.failure();
  return compileAside(module, compile, *folder);
}

Result<TuneSearch::Compiled> TuneSearch::compileWith(const PickMap &picks) {
  Result<std::string> path = compileFile(picks);
  if (!path)
    return path.failure();
  Result<Compiled> opened = trials.open(*path, setup);
  if (opened && (*opened)->artifact().info().kernels != estimated->artifact().info().kernels)
    return Failure{ExitInternalError, "picks change which kernels there are", "", ""};
  return opened;
}

Result<Explanation> TuneSearch::explainWith(const PickMap &picks) {
  if (Result<Done> done = writeRecords(picks); !done)
    return done.failure();
  weft::Result<Explanation> explained = explain(module, compile);
  if (!explained)
    return failureOf(explained.diagnostics());
  return *explained;
}

TuneSearch::PickMap TuneSearch::currentPicks(bool withExchanges) const {
  PickMap picks;
  for (const TunedKernel &kernel : all)
    if (!kernel.picks.empty() && (withExchanges || !kernel.isExchange))
      picks[kernel.key] = kernel.picks;
  return picks;
}

//===-- Trials --------------------------------------------------------------------------------===//

std::vector<TuneSearch::Alternative> TuneSearch::alternativesOf(TunedKernel &kernel,
                                                                const ExplainedChoices &choices) {
  std::vector<Alternative> list;
  const std::set<std::string> &decided = settled[kernel.key];
  Picks current = kernel.picks;
  if (current.schedule.empty())
    current.schedule = kernel.schedule;
  if (!decided.count("schedule"))
    for (const std::string &schedule : choices.schedules)
      if (schedule != current.schedule) {
        kernel.estimates["schedule"] = kernel.schedule;
        list.push_back({"schedule", schedule, {schedule, {}}});
      }
  for (const Choice &choice : choices.choices) {
    if (decided.count(choice.name))
      continue;
    kernel.estimates[choice.name] = std::to_string(choice.estimate);
    auto picked = current.values.find(choice.name);
    int64_t value = picked == current.values.end() ? choice.estimate : picked->second;
    for (int64_t candidate : choice.candidates)
      if (candidate != value) {
        Picks picks = current;
        picks.values[choice.name] = candidate;
        list.push_back({choice.name, std::to_string(candidate), picks});
      }
  }
  return list;
}

Result<Done> TuneSearch::improve(std::set<std::string> &active) {
  PickMap current = currentPicks();
  Result<Explanation> explained = explainWith(current);
  if (!explained)
    return explained.failure();
  std::map<std::string, std::vector<Alternative>> lists;
  std::map<std::string, size_t> seen; // trials of before
  size_t most = 0;
  for (TunedKernel &kernel : all) {
    seen[kernel.key] = kernel.trials.size();
    if (!active.count(kernel.key))
      continue;
    if (const ExplainedChoices *choices = choicesIn(*explained, kernel.key))
      lists[kernel.key] = alternativesOf(kernel, *choices);
    most = std::max(most, lists[kernel.key].size());
  }
  if (most > 0 && !current.empty() && hasTimeFor(2 + closingRounds())) {
    Result<Compiled> compiled = compileWith(current);
    if (!compiled)
      return compiled.failure();
    best = std::move(*compiled);
  } else if (!current.empty()) {
    budgetEnded |= most > 0;
  }
  for (size_t i = 0; i < most; ++i) {
    Changes changed;
    for (TunedKernel &kernel : all)
      if (const std::vector<Alternative> &list = lists[kernel.key]; i < list.size())
        changed[kernel.key] = list[i];
    for (const Changes &round : roundsOf(changed))
      if (Result<Done> done = tryInTime(round); !done)
        return done;
  }
  settle(active, seen);
  return Done{};
}

/// All kernels at once where a trial says what each takes.
std::vector<TuneSearch::Changes> TuneSearch::roundsOf(const Changes &changed) const {
  Changes together;
  std::vector<Changes> rounds;
  for (const auto &change : changed)
    if (trials.knowsKernels() && !isExchange(change.first))
      together.insert(change);
    else
      rounds.push_back({change});
  if (!together.empty())
    rounds.insert(rounds.begin(), together);
  return rounds;
}

/// "3 kernels", "1 exchange"
std::string TuneSearch::countText(const Changes &changed) const {
  std::string count = std::to_string(changed.size());
  if (changed.size() == 1)
    return count + (isExchange(changed.begin()->first) ? " exchange" : " kernel");
  return count + " kernels";
}

int TuneSearch::closingRounds() const {
  return std::any_of(all.begin(), all.end(),
                     [](const TunedKernel &each) { return each.isExchange; })
             ? 2
             : 1;
}

Result<Done> TuneSearch::tryInTime(const Changes &changed) {
  budgetEnded |= !hasTimeFor(1 + closingRounds());
  if (!budgetEnded)
    return tryRound(changed);
  for (TunedKernel &kernel : all)
    kernel.untried += changed.count(kernel.key);
  return Done{};
}

Result<Done> TuneSearch::tryRound(const Changes &changed) {
  double start = elapsed();
  PickMap picks = currentPicks();
  for (const auto &[key, alternative] : changed)
    picks[key] = alternative.picks;
  Result<Compiled> compiled = compileWith(picks);
  if (!compiled)
    return compiled.failure();
  Candidate &other = **compiled, &base = best ? *best : *estimated;
  Result<Tried> tried = trials.timeTogether(base, other);
  if (!tried)
    return tried.failure();
  if (!tried->failed.empty())
    return tryHalves(changed, tried->failed);
  record(changed, base, other, differenceOf(other));
  roundSeconds = std::max(roundSeconds, elapsed() - start);
  return Done{};
}

Result<Done> TuneSearch::tryHalves(const Changes &changed, const std::string &failed) {
  bool isOne = changed.size() == 1;
  console.say("  round " + std::to_string(++rounds) + ": " + countText(changed) +
              " otherwise, failed: " + failed);
  for (TunedKernel &kernel : all)
    if (auto alternative = changed.find(kernel.key); isOne && alternative != changed.end()) {
      const auto &[choice, pick, picks] = alternative->second;
      kernel.trials.push_back({choice, pick, picks, TuneTrial::Failed, 0});
    }
  if (isOne)
    return Done{};
  auto middle = std::next(changed.begin(), static_cast<ptrdiff_t>(changed.size() / 2));
  for (const Changes &half : {Changes(changed.begin(), middle), Changes(middle, changed.end())})
    if (Result<Done> done = tryInTime(half); !done)
      return done;
  return Done{};
}

void TuneSearch::record(const Changes &changed, const Candidate &base, const Candidate &other,
                        const std::string &difference) {
  std::string what;
  int faster = 0;
  for (TunedKernel &kernel : all) {
    auto alternative = changed.find(kernel.key);
    if (alternative == changed.end())
      continue;
    const auto &[choice, pick, itsPicks] = alternative->second;
    Judgement judgement = judge(base, other, kernel);
    faster += judgement.isFaster;
    kernel.trials.push_back({choice, pick, itsPicks,
                             !difference.empty()  ? TuneTrial::Wrong
                             : judgement.isFaster ? TuneTrial::Faster
                                                  : TuneTrial::Slower,
                             judgement.gain});
    what += (what.empty() ? "" : ", ") + kernel.name + " " + choice + "=" + pick;
  }
  if (!difference.empty())
    wrong.push_back(difference + " with " + what);
  console.say("  round " + std::to_string(++rounds) + ": " + countText(changed) + " otherwise, " +
              (difference.empty() ? std::to_string(faster) + " faster" : "wrong") + "  " +
              formatted("%.1f s", elapsed()) + " of " + formatted("%.0f s", request.budget));
}

/// Of the trials since `seen`, the best of each kernel is kept; only kernels that have one go on.
void TuneSearch::settle(std::set<std::string> &active, const std::map<std::string, size_t> &seen) {
  active.clear();
  for (TunedKernel &kernel : all) {
    const TuneTrial *fastest = nullptr;
    for (size_t i = seen.at(kernel.key); i < kernel.trials.size(); ++i)
      if (const TuneTrial &trial = kernel.trials[i];
          trial.is == TuneTrial::Faster && (!fastest || trial.gain > fastest->gain))
        fastest = &trial;
    if (!fastest)
      continue;
    kernel.picks = fastest->picks;
    kernel.gain = 100 - (100 - kernel.gain) * (100 - fastest->gain) / 100;
    settled[kernel.key].insert(fastest->choice);
    active.insert(kernel.key);
  }
}

TuneSearch::Judgement TuneSearch::judge(const Candidate &base, const Candidate &other,
                                        const TunedKernel &kernel) const {
  double logarithm = 0, noise = 0;
  int counted = 0;
  bool losesNowhere = true;
  for (size_t size = 0; size < setup.sizes.size(); ++size) {
    auto costs = [&](const Candidate &of) {
      return costsCalls(kernel) ? of.costs(size) : of.samples(size).kernels[rows.at(kernel.key)];
    };
    std::vector<double> before = costs(base);
    if (!(medianOf(before) > 0))
      continue; // not called at this size
    Gain gain = (kernel.isExchange ? gainOfCalls : gainOf)(before, costs(other));
    logarithm += std::log(std::max(1e-9, 1 - gain.percent / 100));
    noise = std::max(noise, gain.noise);
    losesNowhere &= gain.percent >= -trials.leastGain();
    ++counted;
  }
  double gain = counted ? 100 * (1 - std::exp(logarithm / counted)) : 0;
  return {gain, losesNowhere && gain > std::max(trials.leastGain(), noise)};
}

std::string TuneSearch::differenceOf(const Candidate &other) const {
  for (size_t size = 0; size < setup.sizes.size(); ++size) {
    Result<std::vector<HostTensor>> expected = estimated->outputs(size), got = other.outputs(size);
    if (!expected || !got)
      return (expected ? got : expected).failure().message;
    for (size_t i = 0; i < expected->size(); ++i) {
      if ((*got)[i].dims() != (*expected)[i].dims())
        return "output " + std::to_string(i + 1) + " is " + printDims((*got)[i].dims()) + ", not " +
               printDims((*expected)[i].dims());
      double tolerance = isFloat((*expected)[i].element())
                             ? floatTolerance * std::min(1.0, largestOf((*expected)[i]))
                             : 0;
      Comparison comparison = compareTensors((*got)[i], (*expected)[i], tolerance);
      if (!comparison.good)
        return "output " + std::to_string(i + 1) + " differs by " +
               formatted("%.2g", comparison.worst) +
               (sizeTexts[size] == "-" ? "" : " at " + sizeTexts[size]);
    }
  }
  return "";
}

} // namespace weft::cli
