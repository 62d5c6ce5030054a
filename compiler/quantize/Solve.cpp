//===- Solve.cpp ------------------------------------------------------------------------------===//

#include "compiler/quantize/Solve.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft {
namespace {

constexpr int kHalvings = 40;

template <typename Number>
double sumOf(const PricedDecisions &decisions, const Strategy &strategy, Number number) {
  double sum = 0;
  for (size_t i = 0; i < decisions.size(); ++i)
    if (strategy[i] > 0)
      sum += decisions[i][strategy[i] - 1].*number;
  return sum;
}

/// The loss in parts of the bound; more than there are where it does not fit.
size_t partsOf(double loss, double bound) {
  if (!(loss > 0))
    return 0;
  double parts = bound > 0 ? std::nearbyint(loss / bound * kLossParts) : INFINITY;
  return parts <= double(kLossParts) ? size_t(parts) : kLossParts + 1;
}

} // namespace

double lossOf(const PricedDecisions &decisions, const Strategy &strategy) {
  return sumOf(decisions, strategy, &PricedChoice::loss);
}
double savingOf(const PricedDecisions &decisions, const Strategy &strategy) {
  return sumOf(decisions, strategy, &PricedChoice::saving);
}

double bytesOf(const PricedDecisions &decisions, const Strategy &strategy) {
  return sumOf(decisions, strategy, &PricedChoice::bytes);
}

/// One decision after the other: the most that those so far save with each number of parts, and by
/// which choice of the last.
Strategy solve(const PricedDecisions &decisions, double bound) {
  std::vector<double> most(kLossParts + 1, 0), before;
  std::vector<std::vector<uint8_t>> picked;
  for (const std::vector<PricedChoice> &choices : decisions) {
    before = most;
    std::vector<uint8_t> &pick = picked.emplace_back(kLossParts + 1, uint8_t(0));
    for (unsigned choice = 1; choice <= choices.size(); ++choice) {
      double loss = choices[choice - 1].loss, saving = choices[choice - 1].saving;
      for (size_t part = partsOf(loss, bound); part <= kLossParts; ++part)
        if (double sum = before[part - partsOf(loss, bound)] + saving; sum > most[part]) {
          most[part] = sum;
          pick[part] = uint8_t(choice);
        }
    }
  }
  size_t part = size_t(std::lower_bound(most.begin(), most.end(), most.back()) - most.begin());
  Strategy strategy(decisions.size(), 0);
  for (size_t i = decisions.size(); i-- > 0;) {
    strategy[i] = picked[i][part];
    if (strategy[i] > 0)
      part -= partsOf(decisions[i][strategy[i] - 1].loss, bound);
  }
  return strategy;
}

Strategy fastestOf(const PricedDecisions &decisions) {
  Strategy strategy(decisions.size(), 0);
  for (size_t i = 0; i < decisions.size(); ++i) {
    double most = 0;
    for (unsigned choice = 1; choice <= decisions[i].size(); ++choice)
      if (double saving = decisions[i][choice - 1].saving; saving > most) {
        most = saving;
        strategy[i] = choice;
      }
  }
  return strategy;
}

Strategy solve(const PricedDecisions &decisions, double bound, double bytes) {
  Strategy best = solve(decisions, bound);
  if (bytesOf(decisions, best) >= bytes)
    return best;
  double seconds = 0, most = 0;
  for (const std::vector<PricedChoice> &choices : decisions)
    for (const PricedChoice &choice : choices)
      seconds += std::fabs(choice.saving), most += std::fabs(choice.bytes);
  auto weighing = [&](double share) { // 0: time only, 1: bytes only
    PricedDecisions weighed = decisions;
    for (std::vector<PricedChoice> &choices : weighed)
      for (PricedChoice &choice : choices)
        choice.saving = (1 - share) * choice.saving / (seconds > 0 ? seconds : 1) +
                        share * choice.bytes / (most > 0 ? most : 1);
    return solve(weighed, bound);
  };
  best = weighing(1);
  if (bytesOf(decisions, best) < bytes)
    return best;
  double low = 0, high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    double middle = (low + high) / 2;
    Strategy tried = weighing(middle);
    bool fits = bytesOf(decisions, tried) >= bytes;
    (fits ? high : low) = middle;
    if (fits)
      best = std::move(tried);
  }
  return best;
}

Strategy solveForSaving(const PricedDecisions &decisions, double saving, double bytes) {
  Strategy best = solve(decisions, INFINITY, bytes);
  double low = 0, high = lossOf(decisions, best);
  if (savingOf(decisions, best) <= saving || bytesOf(decisions, best) < bytes)
    return best;
  for (int i = 0; i < kHalvings; ++i) {
    double middle = (low + high) / 2;
    Strategy tried = solve(decisions, middle, bytes);
    bool saves = savingOf(decisions, tried) >= saving && bytesOf(decisions, tried) >= bytes;
    (saves ? high : low) = middle;
    if (saves)
      best = std::move(tried);
  }
  return best;
}

} // namespace weft
