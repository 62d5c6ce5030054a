//===- SearchRounds.cpp - What choices lose beside others, where sums say too little ----------===//
//
//   choose → what was chosen loses within 1.5 times the sum of its losses → that
//                             more, or less → each choice again, beside all others of it → choose …
//
// Errors of layers add up with their signs, and what one loses depends on what reads it. Around a
// strategy S a choice loses as much more than none as S does with the one and the other.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "llvm/ADT/STLExtras.h"

namespace weft {
namespace {

constexpr size_t kRounds = 3;
constexpr double kMostApart = 1.5; ///< a whole's loss and the sum

bool isFar(double whole, double sum) {
  return whole > kMostApart * sum || sum > kMostApart * whole;
}

/// A choice that saves no less time and bytes and loses no more, and is none of which that is true;
/// the choice itself where there is none.
unsigned betterThan(llvm::ArrayRef<PricedChoice> choices, unsigned choice) {
  for (unsigned other = 1; other <= choices.size(); ++other) {
    const PricedChoice &a = choices[other - 1], &b = choices[choice - 1];
    bool isNoWorse = a.loss <= b.loss && a.saving >= b.saving && a.bytes >= b.bytes;
    bool isSame = a.loss == b.loss && a.saving == b.saving && a.bytes == b.bytes;
    if (isNoWorse && (!isSame || other < choice))
      return betterThan(choices, other);
  }
  return choice;
}

} // namespace

double Search::summedLoss(const Strategy &tried) const {
  double loss = counted.rest.cosine;
  for (size_t d = 0; d < decisions.size(); ++d)
    loss += tried[d] > 0 ? counted.choices[d][tried[d] - 1].cosine : 0;
  return std::max(loss, 0.0);
}

/// The calls that losses are measured with, and their answers in f32.
Result<void> Search::forLossCalls(
    llvm::function_ref<Result<void>(const BoundCall &, const std::vector<KeptOutput> &)> visit) {
  for (size_t i = 0; i < lossCalls(); ++i) {
    Result<BoundCall> call = readLossCall(i);
    if (!call)
      return call.diagnostics();
    Result<std::vector<KeptOutput>> wanted = expected(*call);
    if (!wanted)
      return wanted.diagnostics();
    if (Result<void> done = visit(*call, *wanted); !done)
      return done;
  }
  return {};
}

Result<Search::Loss> Search::lossOfWhole(const Strategy &tried) {
  AccuracySum sum;
  Result<void> done =
      forLossCalls([&](const BoundCall &call, const std::vector<KeptOutput> &wanted) {
        return addAnswer(call, tried, wanted, sum);
      });
  return done ? lossFrom(sum) : Result<Loss>(done.diagnostics());
}

/// Choices that are worse and dearer than others have these others' losses, as nobody will take
/// them.
Result<void> Search::measureLossesBeside(const Strategy &chosen, const Loss &whole) {
  std::vector<std::vector<AccuracySum>> sums; // by decision and choice, from 0 on
  for (const Decision &decision : decisions)
    sums.emplace_back(decision.choices.size() + 1);
  auto isMeasured = [&](size_t d, unsigned choice) {
    return choice != chosen[d] && (choice == 0 || betterThan(priced[d], choice) == choice);
  };
  size_t called = 0;
  auto measure = [&](const BoundCall &call, const std::vector<KeptOutput> &wanted) -> Result<void> {
    Strategy tried = chosen;
    for (size_t d = 0; d < decisions.size(); ++d) {
      for (unsigned choice = 0; choice <= decisions[d].choices.size(); ++choice) {
        tried[d] = choice;
        if (!isMeasured(d, choice))
          continue;
        if (Result<void> done = addAnswer(call, tried, wanted, sums[d][choice]); !done)
          return done;
      }
      tried[d] = chosen[d];
    }
    if (options.onProgress)
      options.onProgress("losses", ++called, lossCalls());
    return {};
  };
  if (Result<void> done = forLossCalls(measure); !done)
    return done;
  counted.rest = whole;
  for (size_t d = 0; d < decisions.size(); ++d) {
    auto lossWith = [&](unsigned choice) {
      return choice == chosen[d] ? whole : lossFrom(sums[d][choice]);
    };
    Loss without = lossWith(0);
    for (unsigned choice = 1; choice <= decisions[d].choices.size(); ++choice) {
      Loss with = lossWith(choice == chosen[d] ? choice : betterThan(priced[d], choice));
      Loss &beside = counted.choices[d][choice - 1];
      beside = {std::max(with.cosine - without.cosine, 0.0),
                std::max(with.budget - without.budget, 0.0)};
      if (choice == chosen[d])
        counted.rest.cosine -= beside.cosine, counted.rest.budget -= beside.budget;
    }
  }
  setPriced();
  return {};
}

/// The better one of what is chosen by losses beside a strategy, and of that strategy.
Result<void> Search::chooseBeside(const Strategy &before, const Loss &whole) {
  if (Result<void> done = measureLossesBeside(before, whole); !done)
    return done;
  if (Result<void> done = choose(); !done)
    return done;
  Result<bool> kept = keeps(before);
  if (!kept)
    return kept.diagnostics();
  return isBetter(before, *kept, tableOf(mostLatency(plainSeconds))) ? take(before)
                                                                     : Result<void>();
}

Result<void> Search::chooseInRounds() {
  if (Result<void> done = choose(); !done)
    return done;
  for (size_t round = 0; round < kRounds && !isLate(Deadline::kStrategies); ++round) {
    const Strategy before = strategy;
    if (before == Strategy(decisions.size(), 0)) // which loses nothing
      break;
    Result<Loss> whole = lossOfWhole(before);
    if (!whole)
      return whole.diagnostics();
    double sum = lossOf(priced, before) + counted.rest.budget;
    if (!isFar(whole->budget, sum))
      break;
    bool isFastest = asksAccuracy() && before == fastestOf(priced); // nothing is left to be found
    if (isFastest) {
      counted.rest.cosine += whole->cosine - summedLoss(before);
      break;
    }
    if (Result<void> done = chooseBeside(before, *whole); !done)
      return done;
    if (strategy == before)
      break;
  }
  return {};
}

} // namespace weft
