//===- Solve.cpp ------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Solve.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace weft {
namespace {

constexpr int kHalvings = 40, kMostAsked = 4;
constexpr double kAlmostAll = 1 - 1e-6; ///< that bytes weigh beside time

template <typename Number>
double sumOf(const PricedDecisions &decisions, const Strategy &strategy, Number number) {
  double sum = 0;
  for (size_t i = 0; i < decisions.size(); ++i)
    if (strategy[i] > 0)
      sum += decisions[i][strategy[i] - 1].*number;
  return sum;
}

/// The loss in parts of the bound; more than there are where it does not fit.
size_t partsOf(double loss, double bound, size_t all = kLossParts) {
  if (!(loss > 0))
    return 0;
  double parts = bound > 0 ? std::nearbyint(loss / bound * double(all)) : INFINITY;
  return parts <= double(all) ? size_t(parts) : all + 1;
}

/// Tables over what may be lost and how many bytes are still to be saved, both in parts.
class BothBounds {
public:
  BothBounds(const PricedDecisions &decisions, double bound, double bytes)
      : decisions(decisions), bound(bound), bytes(bytes) {
    ptrdiff_t larger = 0;
    for (const std::vector<PricedChoice> &choices : decisions) {
      ptrdiff_t least = 0;
      for (const PricedChoice &choice : choices)
        least = std::min(least, byteParts(choice));
      larger -= least;
    }
    width = kByteParts + 1 + size_t(larger);
  }

  /// Nothing where none of the strategies that are in the tables saves as many bytes.
  std::optional<Strategy> best() {
    std::vector<double> most((kLossPartsWithBytes + 1) * width, -INFINITY);
    for (size_t loss = 0; loss <= kLossPartsWithBytes; ++loss)
      most[loss * width] = 0;
    for (const std::vector<PricedChoice> &choices : decisions)
      most = after(choices, most);
    double all = most[kLossPartsWithBytes * width + kByteParts];
    if (all == -INFINITY)
      return std::nullopt;
    size_t loss = 0, left = kByteParts;
    while (most[loss * width + left] < all)
      ++loss;
    Strategy strategy(decisions.size(), 0);
    for (size_t i = decisions.size(); i-- > 0;) {
      strategy[i] = picked[i][loss * width + left];
      if (strategy[i] == 0)
        continue;
      const PricedChoice &choice = decisions[i][strategy[i] - 1];
      loss -= partsOf(choice.loss, bound, kLossPartsWithBytes);
      left = leftBefore(left, byteParts(choice));
    }
    return strategy;
  }

private:
  ptrdiff_t byteParts(const PricedChoice &choice) const {
    double parts = std::nearbyint(choice.bytes / bytes * double(kByteParts));
    return ptrdiff_t(std::clamp(parts, -double(kByteParts), double(kByteParts)));
  }
  static size_t leftBefore(size_t left, ptrdiff_t parts) {
    return size_t(std::max<ptrdiff_t>(0, ptrdiff_t(left) - parts));
  }

  /// With one decision more.
  std::vector<double> after(const std::vector<PricedChoice> &choices,
                            const std::vector<double> &before) {
    std::vector<double> most = before;
    std::vector<uint8_t> &pick = picked.emplace_back(before.size(), uint8_t(0));
    for (unsigned choice = 1; choice <= choices.size(); ++choice) {
      const PricedChoice &each = choices[choice - 1];
      size_t lost = partsOf(each.loss, bound, kLossPartsWithBytes);
      ptrdiff_t parts = byteParts(each);
      for (size_t loss = lost; loss <= kLossPartsWithBytes; ++loss)
        for (size_t left = 0; left < width; ++left) {
          size_t earlier = leftBefore(left, parts), at = loss * width + left;
          double sum =
              earlier < width ? before[(loss - lost) * width + earlier] + each.saving : -INFINITY;
          if (sum > most[at]) {
            most[at] = sum;
            pick[at] = uint8_t(choice);
          }
        }
    }
    return most;
  }

  const PricedDecisions &decisions;
  const double bound, bytes;
  size_t width;
  std::vector<std::vector<uint8_t>> picked;
};

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

/// What a byte is worth is a multiplier that is halved until just enough are saved, so the answer
/// may be behind the best by less than one choice.
static Strategy solveByWorth(const PricedDecisions &decisions, double bound, double bytes) {
  Strategy best = solve(decisions, bound);
  if (bytesOf(decisions, best) >= bytes)
    return best;
  double seconds = 0, most = 0;
  for (const std::vector<PricedChoice> &choices : decisions)
    for (const PricedChoice &choice : choices)
      seconds += std::fabs(choice.saving), most += std::fabs(choice.bytes);
  auto weighing = [&](double share) { // 0: time only, kAlmostAll: time among what is as small
    PricedDecisions weighed = decisions;
    for (std::vector<PricedChoice> &choices : weighed)
      for (PricedChoice &choice : choices)
        choice.saving = (1 - share) * choice.saving / (seconds > 0 ? seconds : 1) +
                        share * choice.bytes / (most > 0 ? most : 1);
    return solve(weighed, bound);
  };
  best = weighing(kAlmostAll);
  if (bytesOf(decisions, best) < bytes)
    return best;
  double low = 0, high = kAlmostAll;
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

Strategy solve(const PricedDecisions &decisions, double bound, double bytes) {
  Strategy best = solveByWorth(decisions, bound, bytes);
  if (!(bytes > 0) || bytesOf(decisions, solve(decisions, bound)) >= bytes)
    return best;
  double asked = bytes, missing = 0; // parts are rounded: what is missed by that is asked for, too
  for (int i = 0; i < kMostAsked; ++i, asked += missing) {
    std::optional<Strategy> found = BothBounds(decisions, bound, asked).best();
    if (!found)
      break;
    missing = bytes - bytesOf(decisions, *found);
    if (missing > 0)
      continue;
    bool isReached = bytesOf(decisions, best) >= bytes;
    return isReached && savingOf(decisions, best) >= savingOf(decisions, *found) ? best : *found;
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
    Strategy tried = solveByWorth(decisions, middle, bytes);
    bool saves = savingOf(decisions, tried) >= saving && bytesOf(decisions, tried) >= bytes;
    (saves ? high : low) = middle;
    if (saves)
      best = std::move(tried);
  }
  return best;
}

} // namespace weft
