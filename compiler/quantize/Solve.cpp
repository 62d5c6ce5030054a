//===- Solve.cpp ------------------------------------------------------------------------------===//

#include "compiler/quantize/Solve.h"
#include <algorithm>
#include <limits>

namespace weft {

static double slope(double loss, double saving) {
  return loss > 0 ? saving / loss : std::numeric_limits<double>::infinity();
}

/// The steps of one decision, each less worth than the one before: corners of the hull over its choices.
static std::vector<Step> stepsOf(size_t decision, const std::vector<PricedChoice> &choices) {
  std::vector<Step> steps;
  PricedChoice at{0, 0};
  for (;;) {
    int best = -1;
    double steepest = 0;
    for (size_t i = 0; i < choices.size(); ++i) {
      double saving = choices[i].saving - at.saving;
      double loss = std::max(choices[i].loss, 0.0) - at.loss;
      if (saving <= 0)
        continue;
      // of those that lose nothing the one that saves most
      bool isBetter = best < 0 || slope(loss, saving) > steepest ||
                      (slope(loss, saving) == steepest &&
                       choices[i].saving > choices[size_t(best)].saving);
      if (isBetter) {
        best = int(i);
        steepest = slope(loss, saving);
      }
    }
    if (best < 0)
      return steps;
    PricedChoice next{std::max({choices[size_t(best)].loss, at.loss, 0.0}),
                      choices[size_t(best)].saving};
    steps.push_back(
        {decision, unsigned(best + 1), next.loss - at.loss, next.saving - at.saving});
    at = next;
  }
}

std::vector<Step> pathOf(const std::vector<std::vector<PricedChoice>> &decisions) {
  std::vector<Step> path;
  for (size_t i = 0; i < decisions.size(); ++i)
    for (const Step &step : stepsOf(i, decisions[i]))
      path.push_back(step);
  std::stable_sort(path.begin(), path.end(), [](const Step &a, const Step &b) {
    return slope(a.loss, a.saving) > slope(b.loss, b.saving);
  });
  return path;
}

} // namespace weft
