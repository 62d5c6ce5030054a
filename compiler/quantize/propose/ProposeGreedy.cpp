//===- ProposeGreedy.cpp - One layer after the other, the one that is most worth it -----------===//
//
// After HAGO's third tuner, which goes from edge to edge and never back. Where an accuracy is asked
// for:
//
//   fastest ── the layer that loses most for what it saves takes something safer ── … ── kept
//
// and each strategy on the way is measured whole. Else the other way round, by prices alone: from
// f32, the layer that saves most of what is missing for what it loses takes that.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/propose/Proposer.h"
#include <cmath>

namespace weft {
namespace {

constexpr double kNothing = 1e-30; ///< what is divided by is no less

class GreedyProposer final : public Proposer {
public:
  explicit GreedyProposer(const ChoiceTable &table) : table(table), now(table.priced.size(), 0) {
    if (table.asksAccuracy)
      now = fastestOf(table.priced);
    if (!table.asksAccuracy || !table.isSmallEnough(now))
      addUntilEnough();
  }

  std::optional<Strategy> next() override { return isOver ? std::nullopt : std::optional(now); }

  void hear(bool kept) override {
    isOver = kept || !table.asksAccuracy ||
             !step([&](size_t i, unsigned choice) { return worthOfSafety(i, choice); });
  }

  size_t most() const override { return 1 + (table.asksAccuracy ? choices() : 0); }

private:
  /// Of all layers; each step to something safer is one of them less.
  size_t choices() const {
    size_t count = 0;
    for (const std::vector<PricedChoice> &list : table.priced)
      count += list.size();
    return count;
  }

  PricedChoice at(size_t decision, unsigned choice) const {
    return choice > 0 ? table.priced[decision][choice - 1] : PricedChoice{0, 0, 0};
  }

  /// Takes the change that is worth most; false where none is worth anything.
  template <typename Worth> bool step(Worth &&worthOf) {
    double most = 0;
    size_t decision = 0;
    unsigned taken = 0;
    for (size_t i = 0; i < now.size(); ++i)
      for (unsigned choice = 0; choice <= table.priced[i].size(); ++choice)
        if (double worth = choice != now[i] ? worthOf(i, choice) : 0; worth > most) {
          most = worth;
          decision = i;
          taken = choice;
        }
    if (most > 0)
      now[decision] = taken;
    return most > 0;
  }

  /// Loss that goes for a second that is given up. The size stays small enough.
  double worthOfSafety(size_t decision, unsigned choice) const {
    PricedChoice is = at(decision, now[decision]), other = at(decision, choice);
    double all = bytesOf(table.priced, now);
    bool staysSmall = all < table.wantedBytes ? other.bytes >= is.bytes
                                              : all + other.bytes - is.bytes >= table.wantedBytes;
    if (!staysSmall || !(other.loss < is.loss))
      return 0;
    return (is.loss - other.loss) / std::max(is.saving - other.saving, kNothing);
  }

  /// What one step adds in time another may take back for bytes, so steps are counted.
  void addUntilEnough() {
    for (size_t left = choices(); left > 0 && !table.savesEnough(now); --left)
      if (!step([&](size_t i, unsigned choice) { return worthOfSaving(i, choice); }))
        break;
  }

  /// Parts of what is missing, of time and of bytes, that a loss brings.
  double worthOfSaving(size_t decision, unsigned choice) const {
    PricedChoice is = at(decision, now[decision]), other = at(decision, choice);
    auto partOf = [](double has, double gets, double wanted) {
      double missing = wanted - has;
      return std::isfinite(wanted) && missing > 0 ? std::min(gets, missing) / missing
             : has + gets < wanted                ? -1.0 // what is enough stays so
                                                  : 0.0;
    };
    double part =
        partOf(savingOf(table.priced, now), other.saving - is.saving, table.wantedSaving) +
        partOf(bytesOf(table.priced, now), other.bytes - is.bytes, table.wantedBytes);
    return part > 0 ? part / std::max(other.loss - is.loss, kNothing) : 0;
  }

  const ChoiceTable &table;
  Strategy now;
  bool isOver = false;
};

} // namespace

std::unique_ptr<Proposer> proposeGreedy(const ChoiceTable &table) {
  return std::make_unique<GreedyProposer>(table);
}

} // namespace weft
