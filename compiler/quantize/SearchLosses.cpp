//===- SearchLosses.cpp - What each choice of each layer loses alone --------------------------===//
//
//   two calls      static choices with all their ranges → the better half
//   two calls      with these                           → the range that loses least
//   the others     with that range only
//   the same       the same choices with small weights, which take their ranges
//
// Blocks of more than 4 bits are not called: an error of rounding is as much smaller as the steps,
// and its square what is lost by it, beside what is lost by rows of bytes.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/Search.h"
#include "llvm/ADT/STLExtras.h"

namespace weft {
namespace {

constexpr size_t kLossCalls = 16; ///< at most so many calls measure losses of single decisions
/// Of these, after so many the worse half of ranges goes, and then all but the best.
constexpr size_t kHalfCalls = 2, kRangeCalls = 4;
/// Of the loss: a smaller range has to leave less, as what is not seen may be as large as what was.
constexpr double kWorthCutting = 0.95;

/// The last ones first: a search with little time has observed the first ones alone, whose ranges
/// tell nothing of what others lose by them.
size_t lossCall(size_t i, size_t all) {
  size_t count = std::min(kLossCalls, all);
  return (count - 1 - i) * all / count;
}

bool followsFromFewerBits(const LayerChoice &choice) {
  return choice.hasBlocks() && choice.bits > kBlockBits;
}

size_t positionOf(const Decision &decision, LayerChoice::Form form) {
  return size_t(llvm::find_if(decision.choices,
                              [&](const EdgeChoice &each) {
                                return each.choice.form == form && each.choice.bits == kBlockBits;
                              }) -
                decision.choices.begin());
}

/// Of what is lost with 4 bits, with the rows and without.
double lossWithBits(int64_t bits, double withRows, double withoutRows) {
  double steps = double((1 << kBlockBits) - 1) / double((1 << bits) - 1), part = steps * steps;
  return std::max(withRows - (1 - part) * withoutRows, part * withRows);
}

} // namespace

Result<void> Search::measureLosses() {
  size_t measured = 0;
  LossSums sums;
  for (const Decision &decision : decisions) {
    sums.emplace_back();
    for (const EdgeChoice &choice : decision.choices)
      sums.back().emplace_back(std::max<size_t>(choice.ranges.size(), 1));
  }
  for (size_t i = 0; i < lossCalls() && (i == 0 || !isLate(Deadline::kLosses)); ++i) {
    Result<BoundCall> call = readLossCall(i);
    if (!call)
      return call.diagnostics();
    if (Result<void> done = measureLossesOf(*call, sums, /*small=*/false); !done)
      return done;
    measured = i + 1;
    if (i + 1 == kHalfCalls)
      leaveWorseRanges(sums);
    if (i + 1 == kRangeCalls)
      takeBestRanges(sums);
    if (options.onProgress)
      options.onProgress("losses", i + 1, lossCalls());
  }
  takeBestRanges(sums);
  if (Result<void> done = measureSmallWeights(sums, measured); !done)
    return done;
  for (auto [decision, choices] : llvm::zip_equal(decisions, sums)) {
    losses.emplace_back();
    for (auto [each, ranges] : llvm::zip_equal(decision.choices, choices)) {
      if (followsFromFewerBits(each.choice)) {
        losses.back().push_back(lossOfMoreBits(decision, each.choice.bits, losses.back()));
        continue;
      }
      losses.back().push_back(lossFrom(ranges[0]));
    }
  }
  counted.choices = losses;
  return {};
}

size_t Search::lossCalls() const { return std::min(kLossCalls, options.calibration.count); }

Result<BoundCall> Search::readLossCall(size_t index) {
  return readReference(calibration(), lossCall(index, options.calibration.count));
}

Search::Loss Search::lossFrom(const AccuracySum &sum) const {
  Accuracy accuracy = sum.worst();
  return {1 - accuracy.cosine, lossOf(accuracy, options.budgets)};
}

Result<void> Search::addAnswer(const BoundCall &call, const Strategy &tried,
                               const std::vector<KeptOutput> &wanted, AccuracySum &sum) {
  Result<void> done = simulatedReference().call(call, tried);
  if (done)
    sum.add(wanted, simulatedReference().outputs(), CountedPositions::of(call, options.mask));
  return done;
}

/// Choices of 4 bits stand before those of more.
Search::Loss Search::lossOfMoreBits(const Decision &decision, int64_t bits,
                                    llvm::ArrayRef<Loss> before) {
  const Loss &rows = before[positionOf(decision, LayerChoice::ByteBlocks)],
             &weights = before[positionOf(decision, LayerChoice::Blocks)];
  return {lossWithBits(bits, rows.cosine, weights.cosine),
          lossWithBits(bits, rows.budget, weights.budget)};
}

/// With as many calls, unless time is over.
Result<void> Search::measureSmallWeights(LossSums &sums, size_t count) {
  bool isAny = false;
  for (size_t i = 0; i < decisions.size(); ++i)
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      EdgeChoice &each = decisions[i].choices[choice - 1];
      if (!each.like)
        continue;
      isAny = true;
      if (each.choice.form != LayerChoice::Static)
        continue;
      each.take(decisions[i].choices[*each.like].range);
      each.ranges = {each.range};
      setRange(i, choice, each.range);
    }
  for (size_t i = 0; isAny && i < count && (i == 0 || !isLate(Deadline::kSmallWeights)); ++i) {
    Result<BoundCall> call = readLossCall(i);
    if (!call)
      return call.diagnostics();
    if (Result<void> done = measureLossesOf(*call, sums, /*small=*/true); !done)
      return done;
    if (options.onProgress)
      options.onProgress("weights", i + 1, count);
  }
  return {};
}

/// All is kept unless less is worth it.
size_t Search::bestRange(const std::vector<AccuracySum> &sums) const {
  size_t best = 0;
  auto lossAt = [&](size_t range) { return lossOf(sums[range].worst(), options.budgets); };
  for (size_t range = 1; range < sums.size(); ++range)
    if (lossAt(range) < lossAt(best) && lossAt(range) < kWorthCutting * lossAt(0))
      best = range;
  return best;
}

/// The first one, which cuts nothing off, and the better half of the others go on.
void Search::leaveWorseRanges(LossSums &sums) {
  for (size_t i = 0; i < decisions.size(); ++i)
    for (size_t choice = 0; choice < decisions[i].choices.size(); ++choice) {
      std::vector<AccuracySum> &each = sums[i][choice];
      std::vector<double> sorted;
      for (size_t range = 1; range < each.size(); ++range)
        sorted.push_back(lossOf(each[range].worst(), options.budgets));
      std::vector<double> inOrder = sorted;
      llvm::sort(sorted);
      std::vector<StaticRange> &ranges = decisions[i].choices[choice].ranges;
      for (size_t range = each.size(); range-- > 1;)
        if (inOrder[range - 1] > sorted[(sorted.size() - 1) / 2]) {
          each.erase(each.begin() + ptrdiff_t(range));
          ranges.erase(ranges.begin() + ptrdiff_t(range));
        }
    }
}

void Search::takeBestRanges(LossSums &sums) {
  for (size_t i = 0; i < decisions.size(); ++i)
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      std::vector<AccuracySum> &ranges = sums[i][choice - 1];
      EdgeChoice &each = decisions[i].choices[choice - 1];
      if (each.ranges.empty())
        continue;
      size_t best = bestRange(ranges);
      each.take(each.ranges[best]);
      each.ranges = {each.range};
      setRange(i, choice, each.range);
      ranges = {ranges[best]};
    }
}

/// Each choice of each decision alone, static ones with several ranges; those with small weights,
/// or the others.
Result<void> Search::measureLossesOf(const BoundCall &call, LossSums &sums, bool small) {
  Result<std::vector<KeptOutput>> wanted = expected(call);
  if (!wanted)
    return wanted.diagnostics();
  Strategy tried(decisions.size(), 0);
  for (size_t i = 0; i < decisions.size(); ++i) {
    for (unsigned choice = 1; choice <= decisions[i].choices.size(); ++choice) {
      tried[i] = choice;
      const EdgeChoice &each = decisions[i].choices[choice - 1];
      if (each.like.has_value() != small || followsFromFewerBits(each.choice))
        continue;
      std::vector<AccuracySum> &ranges = sums[i][choice - 1];
      for (size_t range = 0; range < ranges.size(); ++range) {
        if (!each.ranges.empty())
          setRange(i, choice, each.ranges[range]);
        if (Result<void> done = addAnswer(call, tried, *wanted, ranges[range]); !done)
          return done;
      }
      if (!each.ranges.empty())
        setRange(i, choice, each.ranges[0]);
    }
    tried[i] = 0;
  }
  return {};
}

} // namespace weft
