//===- ProposeRandom.cpp - Mixes by chance ----------------------------------------------------===//
//
// HAGO's second tuner: each layer takes one of its choices, or f32, each as likely as the others.
// Where a mix does not save what budgets on time and size ask for, by prices, layers by chance take
// other choices by chance, if these save more of what is missing, until it does.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Proposer.h"
#include <random>

namespace weft {
namespace {

constexpr size_t kMixes = 20;
constexpr size_t kChanges = 100; ///< for each layer; then a mix is proposed whatever it saves

class RandomProposer final : public Proposer {
public:
  RandomProposer(const ChoiceTable &table, uint64_t seed) : table(table), random(seed) {}

  std::optional<Strategy> next() override {
    if (mixes == kMixes)
      return std::nullopt;
    ++mixes;
    Strategy mix = draw();
    for (size_t i = 0, most = kChanges * mix.size(); i < most && !table.savesEnough(mix); ++i)
      change(mix);
    return mix;
  }

  void hear(bool) override {}
  size_t most() const override { return kMixes; }

private:
  /// Without a distribution of the standard library's, which differ between libraries.
  unsigned drawChoice(size_t decision) {
    return unsigned(random() % (table.priced[decision].size() + 1));
  }

  Strategy draw() {
    Strategy mix;
    for (size_t i = 0; i < table.priced.size(); ++i)
      mix.push_back(drawChoice(i));
    return mix;
  }

  /// What is missing in bytes and in seconds grows in neither.
  void change(Strategy &mix) {
    Strategy other = mix;
    size_t decision = random() % mix.size();
    other[decision] = drawChoice(decision);
    auto isNearer = [](double now, double then, double wanted) {
      return then >= std::min(now, wanted);
    };
    if (isNearer(bytesOf(table.priced, mix), bytesOf(table.priced, other), table.wantedBytes) &&
        isNearer(savingOf(table.priced, mix), savingOf(table.priced, other), table.wantedSaving))
      mix = std::move(other);
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
