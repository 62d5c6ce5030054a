//===- ProposeRandom.cpp - Mixes by chance ----------------------------------------------------===//
//
// HAGO's second tuner: each layer takes one of its choices, or f32, each as likely as the others.
// A mix that does not save what budgets on time and size ask for, by prices, is drawn again.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Proposer.h"
#include <random>

namespace weft {
namespace {

constexpr size_t kMixes = 20;
constexpr size_t kDraws = 1000; ///< for one mix; the last one is proposed whatever it saves

class RandomProposer final : public Proposer {
public:
  RandomProposer(const ChoiceTable &table, uint64_t seed) : table(table), random(seed) {}

  std::optional<Strategy> next() override {
    if (mixes == kMixes)
      return std::nullopt;
    ++mixes;
    Strategy mix = draw();
    for (size_t i = 1; i < kDraws && !table.savesEnough(mix); ++i)
      mix = draw();
    return mix;
  }

  void hear(bool) override {}
  size_t most() const override { return kMixes; }

private:
  /// Without a distribution of the standard library's, which differ between libraries.
  Strategy draw() {
    Strategy mix;
    for (const std::vector<PricedChoice> &choices : table.priced)
      mix.push_back(unsigned(random() % (choices.size() + 1)));
    return mix;
  }

  const ChoiceTable &table;
  std::mt19937_64 random;
  size_t mixes = 0;
};

} // namespace

std::unique_ptr<Proposer> proposeRandom(const ChoiceTable &table, uint64_t seed) {
  return std::make_unique<RandomProposer>(table, seed);
}

} // namespace weft
