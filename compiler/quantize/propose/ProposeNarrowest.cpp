//===- ProposeNarrowest.cpp - Every layer in its narrowest choice -----------------------------===//
//
// HAGO's first tuner: one strategy, without a look at what layers lose. A choice is as wide as an
// element of the weight and what it is multiplied by are together, so bytes by bytes are narrower
// than 4 bits by f32; of equally narrow ones it is that which saves most.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Proposer.h"

namespace weft {
namespace {

class NarrowestProposer final : public Proposer {
public:
  explicit NarrowestProposer(const ChoiceTable &table) : table(table) {}

  std::optional<Strategy> next() override {
    if (isOver)
      return std::nullopt;
    isOver = true;
    Strategy strategy;
    for (size_t i = 0; i < table.priced.size(); ++i)
      strategy.push_back(narrowestOf(table.priced[i], table.bits[i]));
    return strategy;
  }

  void hear(bool) override {}
  size_t most() const override { return 1; }

private:
  static unsigned narrowestOf(const std::vector<PricedChoice> &choices,
                              const std::vector<unsigned> &bits) {
    unsigned best = choices.empty() ? 0 : 1;
    for (unsigned choice = 2; choice <= choices.size(); ++choice) {
      auto key = [&](unsigned c) { return std::pair(bits[c - 1], -choices[c - 1].saving); };
      if (key(choice) < key(best))
        best = choice;
    }
    return best;
  }

  const ChoiceTable &table;
  bool isOver = false;
};

} // namespace

std::unique_ptr<Proposer> proposeNarrowest(const ChoiceTable &table) {
  return std::make_unique<NarrowestProposer>(table);
}

} // namespace weft
