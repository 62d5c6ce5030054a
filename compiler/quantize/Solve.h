//===- Solve.h - Which choices save most time for what they lose -----------------------------------===//
//
//   for (const Step &step : pathOf(decisions)) strategy[step.decision] = step.choice;      // any number of them, from the first on
//
// Losses of decisions add up, and so do savings. The path begins where every decision takes its 0 and ends at the most that can be saved; every
// step is the one that saves most for what it loses more. So each prefix is the fastest strategy of all that lose no more than it does, but for one step.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_SOLVE_H
#define WEFT_COMPILER_QUANTIZE_SOLVE_H

#include <cstddef>
#include <vector>

namespace weft {

/// Against choice 0, which loses and saves nothing.
struct PricedChoice {
  double loss, saving;
};

struct Step {
  size_t decision;
  unsigned choice;     ///< counted from 1
  double loss, saving; ///< more than before the step
};

/// By decision its choices 1, 2, …. Choices that save nothing, or less than another that loses no more, are in no step.
std::vector<Step> pathOf(const std::vector<std::vector<PricedChoice>> &decisions);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_SOLVE_H
