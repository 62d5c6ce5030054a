//===- SearchLosses.cpp - What each choice of each layer loses alone --------------------------===//
//
//   a few calls   static choices with several ranges → the range that loses least
//   the others    with that range only
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "llvm/ADT/ArrayRef.h"

namespace weft {
namespace {

constexpr size_t kLossCalls = 16; ///< at most so many calls measure losses of single decisions
constexpr size_t kRangeCalls = 4; ///< of these, so many say which range is the best
constexpr double kRanges[] = {1, 0.85, 0.7, 0.55}; ///< parts of what was seen
constexpr double kPowerRanges[] = {1, 0.5};        ///< that leave a power of two one
constexpr double kAllRange[] = {1};
/// Of the loss: a smaller range has to leave less, as what is not seen may be as large as what was.
constexpr double kWorthCutting = 0.95;

/// That a choice's scale may reach.
llvm::ArrayRef<double> rangesOf(const Decision &decision, const EdgeChoice &choice) {
  if (decision.table || choice.choice.form != LayerChoice::Static)
    return kAllRange;
  return choice.hasPowersOfTwo ? llvm::ArrayRef<double>(kPowerRanges) : kRanges;
}

} // namespace

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

} // namespace weft
