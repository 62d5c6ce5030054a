//===- ProposeExact.cpp - The best by sums, with a bound that is halved -----------------------===//
//
// Losses add up only about, so the fastest strategy within a sum of losses is measured whole, and
// the sum is halved between what kept the budgets and what did not:
//
//   kept   0 ─────── low ──── bound ──── high   lost too much
//
// Where no accuracy is asked for, sums are all there is, and there is one proposal: what loses
// least. Sums are known no better than by a part, so where no time is asked for either, it is the
// fastest of all that lose about as little.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Proposer.h"
#include <cmath>

namespace weft {
namespace {

constexpr size_t kTrials = 9;
constexpr double kAboutLeast = 1.05; ///< of the least sum

class ExactProposer final : public Proposer {
public:
  explicit ExactProposer(const ChoiceTable &table) : table(table) {
    if (!table.asksAccuracy)
      return;
    fastest = solve(table.priced, INFINITY, table.wantedBytes);
    high = lossOf(table.priced, fastest);
    bound = high;
    isOver = !(high > 0);
  }

  std::optional<Strategy> next() override {
    if (isOver || trial == most())
      return std::nullopt;
    if (!table.asksAccuracy)
      return safest();
    return trial == 0 ? fastest : solve(table.priced, bound, table.wantedBytes);
  }

  void hear(bool kept) override {
    isOver = kept && trial == 0; // there is nothing faster
    (kept ? low : high) = bound;
    bound = trial == 0 ? std::min(1.0, high / 2) : low > 0 ? std::sqrt(low * high) : high / 2;
    isOver |= !(high > 0);
    ++trial;
  }

  size_t most() const override { return table.asksAccuracy ? kTrials : 1; }

private:
  Strategy safest() const {
    Strategy least = solveForSaving(table.priced, table.wantedSaving, table.wantedBytes);
    if (std::isfinite(table.wantedSaving) || !table.isSmallEnough(least))
      return least;
    double bound = kAboutLeast * lossOf(table.priced, least);
    Strategy faster = solve(table.priced, bound, table.wantedBytes);
    bool isAsGood = table.isSmallEnough(faster) && lossOf(table.priced, faster) <= bound &&
                    savingOf(table.priced, faster) > savingOf(table.priced, least);
    return isAsGood ? faster : least;
  }

  const ChoiceTable &table;
  Strategy fastest;
  double low = 0, high = 0, bound = 0; ///< sums of losses
  size_t trial = 0;
  bool isOver = false;
};

} // namespace

std::unique_ptr<Proposer> proposeExact(const ChoiceTable &table) {
  return std::make_unique<ExactProposer>(table);
}

std::unique_ptr<Proposer> proposerOf(const QuantizeSearch &search, const ChoiceTable &table) {
  switch (search.kind) {
  case QuantizeSearch::Exact:
    return proposeExact(table);
  case QuantizeSearch::All:
    return proposeNarrowest(table);
  case QuantizeSearch::Random:
    return proposeRandom(table, search.seed);
  case QuantizeSearch::Greedy:
    return proposeGreedy(table);
  }
  return nullptr;
}

} // namespace weft
