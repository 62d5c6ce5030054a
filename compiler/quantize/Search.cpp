//===- Search.cpp -----------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "weft/artifact.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr size_t kLossCalls = 16; ///< at most so many calls measure losses of single decisions
constexpr size_t kRangeCalls = 4; ///< of these, so many say which range is the best
constexpr size_t kMostAnswerBytes = 64 << 20; ///< of answers in f32 that are kept
constexpr size_t kPriceRounds = 2;
constexpr size_t kTrials = 9;        ///< of whole strategies
constexpr double kLeastGain = 0.005; ///< of the time: what saves less saves nothing
constexpr size_t kFrontPoints = 16;
constexpr double kRanges[] = {1, 0.85, 0.7, 0.55}; ///< parts of what was seen
constexpr double kPowerRanges[] = {1, 0.5};        ///< that leave a power of two one
constexpr double kAllRange[] = {1};
/// Of the loss: a smaller range has to leave less, as what is not seen may be as large as what was.
constexpr double kWorthCutting = 0.95;
constexpr double kMostApart = 0.1; ///< sum of prices and the whole, as parts of the time
/// Of what may be lost: by so much an artifact's loss is its simulation's.
constexpr double kPromised = 0.98;
constexpr double kSizeMargin = 0.002; ///< of f32's bytes: what a choice changes beside its weights

/// That a choice's scale may reach.
llvm::ArrayRef<double> rangesOf(const Decision &decision, const EdgeChoice &choice) {
  if (decision.table || choice.choice.form != LayerChoice::Static)
    return kAllRange;
  return choice.hasPowersOfTwo ? llvm::ArrayRef<double>(kPowerRanges) : kRanges;
}

/// In texts of what is timed.
char letterOf(const LayerChoice &choice) {
  return choice.form == LayerChoice::Rows     ? 'r'
         : choice.form == LayerChoice::Blocks ? 'b'
         : choice.everywhere                  ? 'e'
                                              : 's';
}

} // namespace

Result<void> Search::prepare() {
  Result<std::unique_ptr<Session>> compiled = Session::compile(module, options, "plain");
  if (!compiled)
    return compiled.diagnostics();
  plain = std::move(*compiled);
  if (Result<void> done = preparePeers(); !done)
    return done;
  Result<std::unique_ptr<Simulation>> simulated = Simulation::create(module, options, decisions);
  if (!simulated)
    return simulated.diagnostics();
  simulation = std::move(*simulated);
  Result<std::vector<size_t>> picked = timedCalls(options.calibration);
  if (options.timed.count > 0) {
    picked = std::vector<size_t>(options.timed.count);
    std::iota(picked->begin(), picked->end(), size_t(0));
  }
  if (!picked)
    return picked.diagnostics();
  for (size_t index : *picked) {
    Result<BoundCall> call =
        read(options.timed.count > 0 ? options.timed : options.calibration, index);
    if (!call)
      return call.diagnostics();
    timed.push_back(std::move(*call));
  }
  Result<PriceBook> opened = PriceBook::open(module, options);
  if (!opened)
    return opened.diagnostics();
  book = std::move(*opened);
  book.setCalls(timed);
  return {};
}

Result<void> Search::run() {
  if (Result<void> done = measureLosses(); !done)
    return done;
  if (Result<void> done = measurePrices(); !done)
    return done;
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

Result<std::vector<KeptOutput>> Search::expectedOf(size_t index, const BoundCall &call) {
  if (auto known = answers.find(index); known != answers.end())
    return known->second;
  Result<std::vector<KeptOutput>> made = expected(call);
  if (!made)
    return made;
  size_t bytes = 0;
  for (const KeptOutput &output : *made)
    bytes += output.elements.size() * sizeof(float);
  if (answerBytes + bytes <= kMostAnswerBytes) {
    answerBytes += bytes;
    answers.emplace(index, *made);
  }
  return made;
}

//===-- Losses --------------------------------------------------------------------------------===//

Result<void> Search::measureLosses() {
  LossSums sums;
  for (const Decision &decision : decisions) {
    sums.emplace_back();
    for (const EdgeChoice &choice : decision.choices)
      sums.back().emplace_back(rangesOf(decision, choice).size());
  }
  size_t count = std::min(kLossCalls, options.calibration.count);
  for (size_t i = 0; i < count && (i == 0 || !isLate(Deadline::kLosses)); ++i) {
    Result<BoundCall> call = read(options.calibration, i * options.calibration.count / count);
    if (!call)
      return call.diagnostics();
    if (Result<void> done = measureLossesOf(*call, sums); !done)
      return done;
    if (i + 1 == kRangeCalls)
      takeBestRanges(sums);
    if (options.onProgress)
      options.onProgress("losses", i + 1, count);
  }
  takeBestRanges(sums);
  for (const std::vector<std::vector<AccuracySum>> &choices : sums) {
    losses.emplace_back();
    for (const std::vector<AccuracySum> &ranges : choices) {
      Accuracy accuracy = ranges[0].worst();
      losses.back().push_back({1 - accuracy.cosine, lossOf(accuracy, options.budgets)});
    }
  }
  return {};
}

/// A few large elements may cost more when all others are rounded coarsely for them than when they
/// are cut off: which, only the model's answers say. All is kept unless less is worth it.
size_t Search::bestRange(const std::vector<AccuracySum> &sums) const {
  size_t best = 0;
  auto lossAt = [&](size_t range) { return lossOf(sums[range].worst(), options.budgets); };
  for (size_t range = 1; range < sums.size(); ++range)
    if (lossAt(range) < lossAt(best) && lossAt(range) < kWorthCutting * lossAt(0))
      best = range;
  return best;
}

void Search::takeBestRanges(LossSums &sums) {
  for (size_t i = 0; i < decisions.size(); ++i)
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      std::vector<AccuracySum> &ranges = sums[i][choice - 1];
      if (ranges.size() == 1)
        continue;
      size_t best = bestRange(ranges);
      EdgeChoice &each = decisions[i].choices[choice - 1];
      each.range = rangesOf(decisions[i], each)[best];
      each.choice.scale *= float(each.range);
      simulation->setScale(i, choice, each.choice.scale);
      ranges = {ranges[best]};
    }
}

/// Each choice of each decision alone, static ones with several ranges.
Result<void> Search::measureLossesOf(const BoundCall &call, LossSums &sums) {
  Result<std::vector<KeptOutput>> wanted = expected(call);
  if (!wanted)
    return wanted.diagnostics();
  auto positions = CountedPositions::of(call, options.mask);
  Strategy tried(decisions.size(), 0);
  for (size_t i = 0; i < decisions.size(); ++i) {
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      tried[i] = choice;
      const EdgeChoice &each = decisions[i].choices[choice - 1];
      float scale = each.choice.scale;
      std::vector<AccuracySum> &ranges = sums[i][choice - 1];
      for (size_t range = 0; range < ranges.size(); ++range) {
        simulation->setScale(i, choice, scale * float(rangesOf(decisions[i], each)[range]));
        if (Result<void> done = simulation->call(call, tried); !done)
          return done;
        ranges[range].add(*wanted, simulation->outputs(), positions);
      }
      simulation->setScale(i, choice, scale);
    }
    tried[i] = 0;
  }
  return {};
}

Result<AccuracySum>
Search::sumOver(const std::function<Result<void>(const BoundCall &)> &call,
                const std::function<const std::vector<weft_tensor_t> &()> &outputs) {
  AccuracySum sum;
  for (size_t i = 0; i < options.evaluation.count; ++i) {
    Result<BoundCall> bound = read(options.evaluation, i);
    if (!bound)
      return bound.diagnostics();
    Result<std::vector<KeptOutput>> wanted = expectedOf(i, *bound);
    if (!wanted)
      return wanted.diagnostics();
    if (Result<void> done = call(*bound); !done)
      return done.diagnostics();
    sum.add(*wanted, outputs(), CountedPositions::of(*bound, options.mask));
    if (options.score.add)
      if (Result<void> done = options.score.add(i, modelOutputs(outputs())); !done)
        return done.diagnostics();
  }
  if (!options.score.add)
    return sum;
  Result<double> score = options.score.finish();
  if (!score)
    return score.diagnostics();
  sum.setScore(*score);
  return sum;
}

/// Names are those of the model in f32.
std::vector<CallTensor> Search::modelOutputs(const std::vector<weft_tensor_t> &outputs) const {
  std::vector<CallTensor> list;
  for (size_t i = 0; i < plain->outputs().size(); ++i) {
    const weft_tensor_t &output = outputs[i];
    list.push_back({plain->outputName(i),
                    weft_element_name(output.element),
                    std::vector<int64_t>(output.dim, output.dim + output.rank),
                    output.data,
                    {}});
  }
  return list;
}

Result<AccuracySum> Search::simulate(const Strategy &tried) {
  return sumOver([&](const BoundCall &call) { return simulation->call(call, tried); },
                 [&]() -> decltype(auto) { return simulation->outputs(); });
}

Result<AccuracySum> Search::measure(Session &program) {
  return sumOver([&](const BoundCall &call) { return program.call(call); },
                 [&]() -> decltype(auto) { return program.outputs(); });
}

//===-- Prices --------------------------------------------------------------------------------===//

/// Decisions over equal layers, which have one price; those with the most weights first.
std::vector<std::vector<size_t>> Search::groups() const {
  std::map<std::string, size_t> known;
  std::vector<std::vector<size_t>> list;
  for (size_t i = 0; i < decisions.size(); ++i) {
    auto [at, isNew] = known.emplace(kinds[i].text, list.size());
    if (isNew)
      list.emplace_back();
    list[at->second].push_back(i);
  }
  llvm::stable_sort(list,
                    [&](const auto &a, const auto &b) { return weightsOf(a) > weightsOf(b); });
  return list;
}

double Search::weightsOf(const std::vector<size_t> &group) const {
  double sum = 0;
  for (size_t decision : group)
    sum += kinds[decision].weights;
  return sum;
}

bool Search::isLate(double share) {
  bool isOver = deadline.isOver(share);
  timeOver |= isOver;
  return isOver;
}

/// There was no time for these groups: what the measured ones do not explain of what integers save
/// is theirs, by the sizes of their weights.
void Search::estimatePrices(llvm::ArrayRef<std::vector<size_t>> rest) {
  double saved = plainSeconds - aroundSeconds, weights = 0;
  for (const std::vector<double> &choices : costs)
    if (!choices.empty())
      saved -= choices[0];
  for (const std::vector<size_t> &group : rest)
    weights += weightsOf(group);
  for (const std::vector<size_t> &group : rest)
    for (size_t decision : group) {
      costs[decision].assign(decisions[decision].choices.size() + 1, 0);
      costs[decision][0] = std::max(0.0, saved) * kinds[decision].weights / std::max(weights, 1.0);
    }
}

/// Prices are taken around a strategy, as what a layer saves depends on what stands beside it:
/// first around that of all first choices. Where integers then turn out not to be worth it
/// somewhere, once more around what is left.
Result<void> Search::measurePrices() {
  if (declared)
    return takeDeclaredPrices();
  for (const Decision &decision : decisions)
    around.push_back(decision.choices.empty() ? 0 : 1);
  for (size_t round = 0; round < kPriceRounds; ++round) {
    if (Result<void> done = measurePricesAround(); !done)
      return done;
    Strategy fastest = fastestOf(priced);
    bool isLeft = true;
    for (size_t i = 0; i < decisions.size(); ++i)
      isLeft &= (fastest[i] > 0) == (around[i] > 0);
    if (isLeft || round + 1 == kPriceRounds || isLate(Deadline::kPrices))
      break;
    around = fastest;
  }
  return {};
}

/// Decisions over equal layers change together: then what one costs is a part of something that is
/// long enough to be timed, with conversions at its borders and all that kernels take in there.
/// Where the sum is far from the whole, something disturbed a measurement: what was timed only
/// once, now or when the prices were kept, is timed once more, and the least disturbed one counts.
Result<void> Search::measurePricesAround() {
  for (bool isLast = false;; isLast = again = true) {
    Result<bool> all = measureGroups();
    if (!all)
      return all.diagnostics();
    if (isLast || !*all || disagreement() <= kMostApart || isLate(Deadline::kPrices))
      break;
  }
  again = false;
  setPriced();
  return {};
}

void Search::setPriced() {
  priced.assign(decisions.size(), {});
  for (size_t i = 0; i < decisions.size(); ++i)
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice)
      priced[i].push_back(
          {losses[i][choice - 1].budget, savingOfChoice(i, choice), kinds[i].bytes[choice - 1]});
}

Result<void> Search::takeDeclaredPrices() {
  Result<DeclaredPrices> prices = declared(timed);
  if (!prices)
    return prices.diagnostics();
  around.assign(decisions.size(), 0);
  plainSeconds = aroundSeconds = prices->plainSeconds;
  costs.clear();
  for (const std::vector<double> &savings : prices->savings) {
    costs.push_back({0});
    for (double saving : savings)
      costs.back().push_back(-saving);
  }
  setPriced();
  return {};
}

/// How far what prices say of the model in f32 is from what it takes.
double Search::disagreement() const {
  double sum = aroundSeconds;
  for (const std::vector<double> &choices : costs)
    sum += choices[0];
  return std::fabs(sum - plainSeconds) / plainSeconds;
}

/// Gives whether all were measured.
Result<bool> Search::measureGroups() {
  Result<Timed> whole = timeOf(Strategy(decisions.size(), 0), around);
  if (!whole)
    return whole.diagnostics();
  plainSeconds = whole->base;
  aroundSeconds = whole->other;
  costs.assign(decisions.size(), {});
  std::vector<std::vector<size_t>> list = groups();
  for (size_t i = 0; i < list.size(); ++i) {
    const std::vector<size_t> &group = list[i];
    if (isLate(Deadline::kPrices)) {
      estimatePrices(llvm::ArrayRef(list).drop_front(i));
      return false;
    }
    for (unsigned choice = 0; choice <= decisions[group[0]].choices.size(); ++choice) {
      Result<double> cost = 0.0;
      if (choice > 0 && choice != around[group[0]] && !kinds[group[0]].isTimed[choice - 1])
        cost = costs[group[0]][0] * double(group.size());
      else if (choice != around[group[0]] && !(cost = costOf(group, choice)))
        return cost.diagnostics();
      for (size_t decision : group)
        costs[decision].push_back(*cost / double(group.size()));
    }
    if (options.onProgress)
      options.onProgress("prices", i + 1, list.size());
  }
  return true;
}

Result<std::unique_ptr<Session>> Search::compile(const Strategy &tried) {
  Result<Module> program = realised(module, decisions, tried);
  if (!program)
    return program.diagnostics();
  return Session::compile(*program, options, "trial");
}

/// What programs of equal texts compute is equal, numbers aside.
std::string Search::textOf(const Strategy &tried) const {
  std::string text;
  for (size_t i = 0; i < decisions.size(); ++i) {
    const EdgeChoice *choice = tried[i] > 0 ? &decisions[i].choices[tried[i] - 1] : nullptr;
    if (decisions[i].table) {
      text += (choice ? "t " : "f ") + std::to_string(*decisions[i].table) + ";";
      continue;
    }
    text += choice ? letterOf(choice->choice) : 'f';
    text += choice && choice->choice.rounding.isSigned ? "-" : "";
    text += choice && choice->choice.rounding.hasOneScale ? "1" : "";
    text += choice && !choice->choice.factors.empty() ? "*" : "";
    for (size_t layer : decisions[i].layers)
      text += " " + std::to_string(layer);
    text += ';';
  }
  return text;
}

Result<Session *> Search::baseOf(const Strategy &base) {
  if (base == Strategy(decisions.size(), 0))
    return plain.get();
  if (!lastBase || lastBaseOf != base) {
    Result<std::unique_ptr<Session>> compiled = compile(base);
    if (!compiled)
      return compiled.diagnostics();
    lastBase = std::move(*compiled);
    lastBaseOf = base;
  }
  return lastBase.get();
}

Result<Timed> Search::timeOf(const Strategy &base, const Strategy &other, Session *compiled) {
  std::optional<Timed> known = book.find(textOf(base), textOf(other));
  if (known && !(again && book.isAlone(textOf(base), textOf(other))))
    return *known;
  Result<Session *> first = baseOf(base);
  if (!first)
    return first.diagnostics();
  std::unique_ptr<Session> own;
  if (!compiled) {
    Result<std::unique_ptr<Session>> made = compile(other);
    if (!made)
      return made.diagnostics();
    own = std::move(*made);
  }
  Result<Timed> taken = timeInTurns(**first, compiled ? *compiled : *own, timed, options);
  if (!taken)
    return taken.diagnostics();
  return book.add(textOf(base), textOf(other), *taken);
}

/// Once more where it is not what prices say.
Result<Timed> Search::timeBest(Session &program) {
  Strategy none(decisions.size(), 0);
  if (declared)
    return Timed{plainSeconds, plainSeconds * latencyOf(strategy), 0};
  Result<Timed> taken = timeOf(none, strategy, &program);
  if (!taken || std::fabs(taken->other / taken->base - latencyOf(strategy)) <= kMostApart)
    return taken;
  again = true;
  taken = timeOf(none, strategy, &program);
  again = false;
  return taken;
}

/// Seconds more than with the strategy around; nothing where that is noise.
Result<double> Search::costOf(const std::vector<size_t> &group, unsigned choice) {
  Strategy tried = around;
  for (size_t decision : group)
    tried[decision] = choice;
  Result<Timed> taken = timeOf(around, tried);
  if (!taken)
    return taken.diagnostics();
  double more = taken->other - taken->base;
  return std::fabs(more) > std::max(taken->noise, kLeastGain * taken->base) ? more : 0;
}

//===-- Points of the report----------------------------------------------------------------===//

std::vector<QuantizedPoint> Search::front() const {
  std::vector<QuantizedPoint> points;
  double bound = lossOf(priced, fastestOf(priced));
  for (size_t i = 0; i < kFrontPoints && bound > 0; ++i, bound /= 2) {
    Strategy each = solve(priced, bound);
    double loss = 0;
    for (size_t d = 0; d < decisions.size(); ++d)
      loss += each[d] > 0 ? losses[d][each[d] - 1].cosine : 0;
    QuantizedPoint point{"", latencyOf(each), 1 - loss, false};
    if (points.empty() || points.back().latency != point.latency)
      points.push_back(point);
  }
  return points;
}

std::vector<QuantizedPoint> Search::tried() const {
  std::vector<QuantizedPoint> points;
  for (const auto &[each, sum] : known)
    points.push_back({"", latencyOf(each), sum.worst().cosine, true});
  return points;
}

/// Before anything is measured, as one may be refused.
Result<void> Search::preparePeers() {
  for (const QuantizedPeer &peer : options.peers) {
    Result<std::unique_ptr<Session>> session = Session::compile(peer.module, options, "peer");
    if (!session)
      return session.diagnostics();
    if (!(*session)->isLike(*plain))
      return quantizeError("W0328", "inputs and outputs are not those of the model, in its order",
                           peer.name);
    peers.push_back(std::move(*session));
  }
  return {};
}

Result<std::vector<QuantizedPoint>> Search::comparePeers() {
  std::vector<QuantizedPoint> points;
  for (size_t i = 0; i < peers.size(); ++i) {
    Result<Timed> taken = timeInTurns(*plain, *peers[i], timed, options);
    if (!taken)
      return taken.diagnostics();
    Result<AccuracySum> sum = measure(*peers[i]);
    if (!sum)
      return sum.diagnostics();
    points.push_back(
        {options.peers[i].name, taken->other / taken->base, sum->worst().cosine, true});
  }
  return points;
}

//===-- Choosing ------------------------------------------------------------------------------===//

double Search::latencyOf(const Strategy &tried) const {
  double seconds = aroundSeconds;
  for (size_t i = 0; i < decisions.size(); ++i)
    seconds += costs[i][tried[i]];
  return seconds / plainSeconds;
}

void Search::stayPlain() {
  strategy.assign(decisions.size(), 0);
  for (std::vector<double> &choices : costs)
    std::fill(choices.begin(), choices.end(), 0);
  aroundSeconds = plainSeconds;
  accuracy = {};
  accuracy.sqnr = INFINITY;
  reached = reached && !asks(QuantizeBudget::Latency);
}

bool Search::asks(QuantizeBudget::Metric metric) const {
  return std::any_of(options.budgets.begin(), options.budgets.end(),
                     [&](const QuantizeBudget &b) { return b.metric == metric; });
}

double Search::wantedBytes() const {
  double wanted = kAnyBytes, plainBytes = double(plain->fileBytes());
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.metric == QuantizeBudget::Size) {
      double bound = budget.bytesOf(plainBytes);
      // Fewer weights lose the gap in front of them.
      constexpr double few = 1 << WEFT_FEW_WEIGHTS_LOG2;
      bool losesGap = bound < few && plainBytes >= few;
      double now = losesGap ? double(plain->codeAndWeights()) : plainBytes;
      wanted = std::max(wanted, now + plainBytes * kSizeMargin + moreBytes - bound);
    }
  return wanted;
}

/// Whether budgets on accuracy hold with a whole strategy.
Result<bool> Search::keeps(const Strategy &tried) {
  auto found = known.find(tried);
  if (found == known.end()) {
    Result<AccuracySum> sum = simulate(tried);
    if (!sum)
      return sum.diagnostics();
    found = known.emplace(tried, std::move(*sum)).first;
  }
  return holds(found->second.worst(), options.budgets, kPromised);
}

/// Losses add up only about, so strategies are measured whole, and what may be lost by their sum is
/// halved between what kept the budgets and what did not.
Result<void> Search::chooseByAccuracy() {
  Strategy fastest = solve(priced, INFINITY, wantedBytes());
  double low = 0, high = lossOf(priced, fastest);
  strategy.assign(decisions.size(), 0);
  double bound = high;
  for (size_t trial = 0; trial < kTrials && high > 0; ++trial) {
    bool isFound = strategy != Strategy(decisions.size(), 0); // until then every trial is needed
    if (isFound && isLate(Deadline::kStrategies))
      break;
    Strategy tried = trial == 0 ? fastest : solve(priced, bound, wantedBytes());
    Result<bool> kept = keeps(tried);
    if (!kept)
      return kept.diagnostics();
    if (options.onProgress)
      options.onProgress("strategies", trial + 1, kTrials);
    bool isBetter = isSmallEnough(strategy) ? latencyOf(tried) < latencyOf(strategy)
                                            : bytesOf(priced, tried) > bytesOf(priced, strategy);
    if (*kept && isBetter && (isSmallEnough(tried) || !isSmallEnough(strategy)))
      strategy = tried;
    if (*kept && trial == 0)
      break;
    (*kept ? low : high) = bound;
    bound = trial == 0 ? std::min(1.0, high / 2) : low > 0 ? std::sqrt(low * high) : high / 2;
  }
  return {};
}

/// The fastest that keeps the accuracy, or the most accurate that keeps the latency where nothing
/// else is asked for.
Result<void> Search::choose() {
  const QuantizeBudget *latency = nullptr;
  bool asksAccuracy = false;
  for (const QuantizeBudget &budget : options.budgets)
    if (budget.isOfAccuracy())
      asksAccuracy = true;
    else if (budget.metric == QuantizeBudget::Latency &&
             (!latency || budget.bound < latency->bound))
      latency = &budget;
  if (asksAccuracy) {
    if (Result<void> done = chooseByAccuracy(); !done)
      return done;
  } else {
    Strategy none(decisions.size(), 0);
    double wanted = latency ? (latencyOf(none) - latency->bound) * plainSeconds : -INFINITY;
    strategy = solveForSaving(priced, wanted, wantedBytes());
  }
  Result<bool> kept = keeps(strategy);
  if (!kept)
    return kept.diagnostics();
  accuracy = known.at(strategy).worst();
  reached = *kept && (!latency || latencyOf(strategy) <= latency->bound);
  return {};
}

Result<bool> Search::chooseSmaller(double bytes) {
  Strategy before = strategy;
  moreBytes += bytes;
  if (Result<void> done = choose(); !done)
    return done.diagnostics();
  return strategy != before;
}

} // namespace weft
