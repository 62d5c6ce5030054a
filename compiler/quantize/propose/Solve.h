//===- Solve.h - Which choices save most time for what they lose ------------------------------===//
//
//   Strategy fastest = solve(decisions, 1.0);           // none that loses at most 1 saves more
//   Strategy safest = solveForSaving(decisions, 2e-3);  // none that saves 2 ms loses less
//
// Losses of decisions add up, and so do savings: a knapsack with one choice for each decision,
// solved exactly for losses in whole parts of the bound.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_PROPOSE_SOLVE_H
#define WEFT_COMPILER_QUANTIZE_PROPOSE_SOLVE_H

#include <cstddef>
#include <limits>
#include <vector>

namespace weft {

/// By decision the choice, counted from 1; 0 leaves its layers as they are.
using Strategy = std::vector<unsigned>;

/// Against choice 0, which loses and saves nothing.
struct PricedChoice {
  double loss, saving; ///< seconds
  double bytes = 0;    ///< less in the file
};
/// By decision its choices 1, 2, ….
using PricedDecisions = std::vector<std::vector<PricedChoice>>;

/// Losses count in parts of the bound: a strategy's may be beyond it by half a part for each
/// decision.
constexpr size_t kLossParts = 1 << 13;

/// The strategy that saves most among those that lose at most `bound`; of equal ones that with less
/// loss.
Strategy solve(const PricedDecisions &decisions, double bound);
/// How many bytes less are enough where nobody asks for a size.
constexpr double kAnyBytes = -std::numeric_limits<double>::infinity();
/// Bytes count in parts of what is asked for, too, where both bounds matter.
constexpr size_t kLossPartsWithBytes = 1 << 10, kByteParts = 1 << 8;
/// The same among those that also make the file smaller by so many bytes; those that make it
/// smallest where none does. No strategy saves more that loses less by half a part for each
/// decision and makes the file smaller by as many parts.
Strategy solve(const PricedDecisions &decisions, double bound, double bytes);
/// The strategy that loses least among those that save so much time and so many bytes; the fastest
/// of all that save the bytes where none does.
Strategy solveForSaving(const PricedDecisions &decisions, double saving, double bytes = kAnyBytes);
/// The fastest of all.
Strategy fastestOf(const PricedDecisions &decisions);

double lossOf(const PricedDecisions &decisions, const Strategy &strategy);
double savingOf(const PricedDecisions &decisions, const Strategy &strategy);
double bytesOf(const PricedDecisions &decisions, const Strategy &strategy);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_PROPOSE_SOLVE_H
