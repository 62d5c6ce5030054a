//===- Proposer.h - Whole strategies to be measured, one after the other ----------------------===//
//
//   std::unique_ptr<Proposer> proposer = proposerOf(options.search, table);
//   while (std::optional<Strategy> tried = proposer->next())
//     proposer->hear(keepsBudgets(*tried));            // which calls say, of the whole strategy
//
// A proposer knows what single choices lose and save. What it proposes is measured, judged and
// written by whoever asks, in the same way for all of them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_PROPOSE_PROPOSER_H
#define WEFT_COMPILER_QUANTIZE_PROPOSE_PROPOSER_H

#include "compiler/quantize/propose/Solve.h"
#include "weft/quantize.hpp"
#include <memory>
#include <optional>

namespace weft {

/// What is known before anything is measured whole.
struct ChoiceTable {
  PricedDecisions priced;
  std::vector<std::vector<unsigned>> bits; ///< by decision and choice, as `DecisionKind` has them
  double wantedBytes = kAnyBytes;          ///< less in the file
  double wantedSaving = -std::numeric_limits<double>::infinity(); ///< seconds
  bool asksAccuracy = true; ///< else what saves enough and loses least is looked for

  bool isSmallEnough(const Strategy &s) const { return bytesOf(priced, s) >= wantedBytes; }
  /// By prices.
  bool savesEnough(const Strategy &s) const {
    return isSmallEnough(s) && savingOf(priced, s) >= wantedSaving;
  }
};

class Proposer {
public:
  virtual ~Proposer() = default;
  /// Nothing when it has none left.
  virtual std::optional<Strategy> next() = 0;
  /// Whether the last one keeps the budgets on accuracy.
  virtual void hear(bool kept) = 0;
  /// It proposes at most so many.
  virtual size_t most() const = 0;
};

/// The table lives as long as the proposer. The same table gives the same proposals.
std::unique_ptr<Proposer> proposerOf(const QuantizeSearch &search, const ChoiceTable &table);

std::unique_ptr<Proposer> proposeExact(const ChoiceTable &table);
std::unique_ptr<Proposer> proposeNarrowest(const ChoiceTable &table);
std::unique_ptr<Proposer> proposeRandom(const ChoiceTable &table, uint64_t seed);
std::unique_ptr<Proposer> proposeGreedy(const ChoiceTable &table);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_PROPOSE_PROPOSER_H
