//===- SearchPrices.cpp - What each choice of each layer takes and saves ----------------------===//
//
//   around = all first choices;  for each kind of layer and each choice:
//   price = time(around with that choice) - time(around), in turns, of kernels that differ
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "compiler/quantize/StrategyFile.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace weft {
namespace {

constexpr size_t kPriceRounds = 2;
constexpr double kMostApart = 0.1; ///< sum of prices and the whole, as a part of what it takes

} // namespace

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

/// Of what the choice around saves, by the bits that both spare.
static double savedPart(const DecisionKind &kind, size_t choice, size_t around) {
  if (choice == around)
    return 1;
  auto spared = [&](size_t each) { return 2.0 * kFloatBits - kind.bits[each - 1]; };
  return kind.isTimed[choice - 1] ? spared(choice) / spared(around) : 0;
}

/// There was no time for these groups: what the measured ones do not explain of what integers save
/// is theirs, by the sizes of their weights.
void Search::estimatePrices(llvm::ArrayRef<std::vector<size_t>> rest) {
  double saved = plainSeconds - aroundSeconds, weights = 0;
  for (const std::vector<double> &choices : costs)
    if (!choices.empty())
      saved -= choices[0];
  auto weightsAround = [&](size_t decision) {
    return around[decision] > 0 ? kinds[decision].weights : 0;
  };
  for (const std::vector<size_t> &group : rest)
    for (size_t decision : group)
      weights += weightsAround(decision);
  for (const std::vector<size_t> &group : rest)
    for (size_t decision : group) {
      double share = std::max(0.0, saved) * weightsAround(decision) / std::max(weights, 1.0);
      costs[decision] = {share};
      for (size_t choice = 1; choice <= decisions[decision].choices.size(); ++choice)
        costs[decision].push_back(
            share > 0 ? share * (1 - savedPart(kinds[decision], choice, around[decision])) : 0);
    }
}

/// Prices are taken around a strategy, as what a layer saves depends on what stands beside it:
/// first around that of all first choices. Where integers then turn out not to be worth it
/// somewhere, or the fastest choices take together what no sum of prices says, once more around
/// these.
Result<void> Search::measurePrices() {
  if (declared)
    return takeDeclaredPrices();
  for (const Decision &decision : decisions)
    around.push_back(decision.choices.empty() ? 0 : 1);
  for (size_t round = 0; round < kPriceRounds; ++round) {
    if (Result<void> done = measurePricesAround(); !done)
      return done;
    Strategy fastest = fastestOf(priced);
    if (round + 1 == kPriceRounds || isLate(Deadline::kPrices))
      break;
    bool isLeft = true;
    for (size_t i = 0; i < decisions.size(); ++i)
      isLeft &= (fastest[i] > 0) == (around[i] > 0);
    Result<bool> isSum = isLeft ? isSumOfPrices(fastest) : false;
    if (!isSum)
      return isSum.diagnostics();
    if (*isSum)
      break;
    around = fastest;
  }
  return {};
}

Result<bool> Search::isSumOfPrices(const Strategy &tried) {
  Result<Timed> taken = timeOf(Strategy(decisions.size(), 0), tried);
  if (!taken)
    return taken.diagnostics();
  return std::fabs(taken->other / taken->base / latencyOf(tried) - 1) <= kMostApart;
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
      priced[i].push_back({counted.choices[i][choice - 1].budget, savingOfChoice(i, choice),
                           kinds[i].bytes[choice - 1]});
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
      else if (choice != around[group[0]]) {
        Strategy tried = around;
        for (size_t decision : group)
          tried[decision] = choice;
        if (!(cost = costOf(tried)))
          return cost.diagnostics();
      }
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
    text += nameOf(choice ? formOf(decisions[i], *choice) : StrategyLine::F32);
    text += choice && choice->choice.rounding.isSigned ? "-" : "";
    text += choice && choice->choice.rounding.hasOneScale ? "1" : "";
    text += choice && choice->choice.rounding.hasSmallWeights() ? "<" : "";
    text += choice && !choice->choice.factors.empty() ? "*" : "";
    for (size_t layer : decisions[i].layers)
      text += " " + std::to_string(layer) +
              std::string(choice ? choice->resultsOf(layer).size() : 0, '>');
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
  if (elsewhere)
    return predicted(base, other);
  std::optional<Timed> known = book.find(textOf(base), textOf(other));
  if (known && !(again && book.isAlone(textOf(base), textOf(other))))
    return *known;
  return timedInTurns(base, other, compiled);
}

Result<Timed> Search::predicted(const Strategy &base, const Strategy &other) {
  Result<double> first = predictedSeconds(base), second = predictedSeconds(other);
  if (!first || !second)
    return (first ? second : first).diagnostics();
  return Timed{*first, *second, *second - *first};
}

Result<double> Search::predictedSeconds(const Strategy &tried) {
  auto known = predictions.find(textOf(tried));
  if (known != predictions.end())
    return known->second;
  if (options.cancelled && options.cancelled())
    return quantizeError("W0399", "interrupted");
  Result<Module> program = realised(module, decisions, tried);
  if (!program)
    return program.diagnostics();
  Result<double> seconds = elsewhere->secondsOf(*program, timed);
  if (seconds)
    predictions[textOf(tried)] = *seconds;
  return seconds;
}

Result<Timed> Search::timeOfPeer(size_t index) {
  if (!elsewhere)
    return timeInTurns(*plain, *peers[index], timed, options);
  Result<double> base = predictedSeconds(Strategy(decisions.size(), 0));
  Result<double> other = elsewhere->secondsOf(options.peers[index].module, timed);
  if (!base || !other)
    return (base ? other : base).diagnostics();
  return Timed{*base, *other, *other - *base};
}

Result<Timed> Search::timedInTurns(const Strategy &base, const Strategy &other, Session *compiled) {
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
  if (!taken || std::fabs(taken->other / taken->base / latencyOf(strategy) - 1) <= kMostApart)
    return taken;
  again = true;
  taken = timeOf(none, strategy, &program);
  again = false;
  return taken;
}

/// Seconds more than with the strategy around; nothing where that is noise.
Result<double> Search::costOf(const Strategy &tried) {
  Result<Timed> taken = timeOf(around, tried);
  return taken ? Result<double>(taken->more) : taken.diagnostics();
}

} // namespace weft
