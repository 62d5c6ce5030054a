// Who proposes strategies: what each comes to when losses of whole strategies are sums.
#include "compiler/quantize/propose/Proposer.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace weft;

namespace {

constexpr QuantizeSearch::Kind kKinds[] = {QuantizeSearch::Exact, QuantizeSearch::All,
                                           QuantizeSearch::Random, QuantizeSearch::Greedy};

/// Losses are parts of what a budget allows, so 1 is just kept.
ChoiceTable randomTable(std::mt19937 &random) {
  std::uniform_real_distribution<double> number(0, 1);
  ChoiceTable table;
  table.priced.resize(1 + random() % 8);
  for (auto &choices : table.priced) {
    table.bits.emplace_back();
    for (unsigned i = random() % 4; i-- > 0;) {
      choices.push_back({std::pow(number(random), 3), number(random) - 0.2, number(random)});
      table.bits.back().push_back(random() % 2 ? 16 : 36);
    }
  }
  return table;
}

std::vector<Strategy> proposals(const ChoiceTable &table, QuantizeSearch search, double bound = 1) {
  std::unique_ptr<Proposer> proposer = proposerOf(search, table);
  std::vector<Strategy> list;
  while (std::optional<Strategy> tried = proposer->next()) {
    list.push_back(*tried);
    REQUIRE(list.size() <= proposer->most());
    proposer->hear(lossOf(table.priced, *tried) <= bound);
  }
  return list;
}

/// The most that a proposal saves that loses at most so much; f32 saves nothing.
double mostSaved(const ChoiceTable &table, const std::vector<Strategy> &list, double bound) {
  double most = 0;
  for (const Strategy &each : list)
    if (lossOf(table.priced, each) <= bound)
      most = std::max(most, savingOf(table.priced, each));
  return most;
}

} // namespace

TEST_CASE("what random and greedy find that keeps an accuracy is no faster than what sums find") {
  std::mt19937 random(11);
  size_t behind = 0;
  for (int i = 0; i < 60; ++i) {
    ChoiceTable table = randomTable(random);
    double exact = mostSaved(table, proposals(table, {QuantizeSearch::Exact}), 1.001);
    // The halved bound ends a little below the budget.
    for (QuantizeSearch::Kind kind : {QuantizeSearch::Random, QuantizeSearch::Greedy}) {
      double other = mostSaved(table, proposals(table, {kind}), 0.97);
      INFO("table " << i << ", search " << kind);
      CHECK(exact >= other - 1e-12);
      behind += exact > other;
    }
  }
  CHECK(behind > 15);
}

TEST_CASE("where a time is asked for, what random and greedy find loses no less") {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    ChoiceTable table = randomTable(random);
    table.asksAccuracy = false;
    table.wantedSaving = 0.5 * savingOf(table.priced, fastestOf(table.priced));
    std::vector<Strategy> exact = proposals(table, {QuantizeSearch::Exact});
    REQUIRE(exact.size() == 1);
    CHECK(table.savesEnough(exact[0]));
    std::vector<Strategy> greedy = proposals(table, {QuantizeSearch::Greedy});
    REQUIRE(greedy.size() == 1);
    std::vector<Strategy> all = proposals(table, {QuantizeSearch::Random});
    all.push_back(greedy[0]);
    double least = lossOf(table.priced, exact[0]);
    for (const Strategy &each : all) {
      INFO("table " << i);
      if (table.savesEnough(each))
        CHECK(lossOf(table.priced, each) >= least * 0.999 - 1e-9);
    }
  }
}

TEST_CASE("greedy ends with the first that keeps the accuracy, and with f32 where none does") {
  // the first layer loses most for what it saves, then the third
  ChoiceTable table;
  table.priced = {{{0.9, 1, 0}}, {{0.1, 1, 0}}, {{0.4, 1, 0}, {0.2, 0.9, 0}}};
  table.bits = {{16}, {16}, {16, 16}};
  CHECK(proposals(table, {QuantizeSearch::Greedy}, 0.35) ==
        std::vector<Strategy>{{1, 1, 1}, {1, 1, 2}, {0, 1, 2}});
  CHECK(proposals(table, {QuantizeSearch::Greedy}, -1).back() == Strategy{0, 0, 0});
}

TEST_CASE("greedy saves the bytes that are asked for first, and keeps them") {
  ChoiceTable table;
  table.priced = {{{0.5, -0.1, 100}}, {{0.1, 2, 20}}, {{0.1, 1, -10}}};
  table.bits = {{8}, {16}, {16}};
  table.wantedBytes = 115;
  for (const Strategy &each : proposals(table, {QuantizeSearch::Greedy}, 0.6))
    CHECK(table.isSmallEnough(each));
  table.asksAccuracy = false;
  table.wantedSaving = 1.5;
  CHECK(proposals(table, {QuantizeSearch::Greedy}) == std::vector<Strategy>{{1, 1, 0}});
  table.wantedBytes = 1000; // out of reach: it ends all the same
  CHECK(proposals(table, {QuantizeSearch::Greedy}).size() == 1);
}

TEST_CASE("all takes the narrowest choice of every layer, of equal ones the fastest") {
  ChoiceTable table;
  table.priced = {{{0, 3, 0}, {0, 1, 0}, {0, 2, 0}}, {}, {{9, -1, 0}}};
  table.bits = {{36, 16, 16}, {}, {16}};
  CHECK(proposals(table, {QuantizeSearch::All}) == std::vector<Strategy>{{3, 0, 1}});
}

TEST_CASE("chance is of the seed alone, and its mixes save what is asked for") {
  std::mt19937 random(13);
  ChoiceTable table = randomTable(random);
  while (table.priced.size() < 6)
    table = randomTable(random);
  table.wantedSaving = 0.3 * savingOf(table.priced, fastestOf(table.priced));
  std::vector<Strategy> first = proposals(table, {QuantizeSearch::Random, 7});
  CHECK(first.size() == 20);
  CHECK(first == proposals(table, {QuantizeSearch::Random, 7}));
  CHECK(first != proposals(table, {QuantizeSearch::Random, 8}));
  for (const Strategy &each : first)
    CHECK(table.savesEnough(each));
  table.wantedSaving = 1e9;
  CHECK(proposals(table, {QuantizeSearch::Random, 7}).size() == 20);
}

TEST_CASE("chance also finds what nearly every layer has to save for, and not always the same") {
  ChoiceTable table;
  for (size_t i = 0; i < 60; ++i) {
    table.priced.push_back({{0.1, 1, 10}, {0.2, 2, 20}, {0.3, -1, 24}});
    table.bits.push_back({32, 24, 16});
  }
  table.wantedBytes = 1300; // of 1440; one mix by chance has 810
  table.wantedSaving = 20;
  std::vector<Strategy> all = proposals(table, {QuantizeSearch::Random, 3});
  CHECK(all.size() == 20);
  for (const Strategy &each : all)
    CHECK(table.savesEnough(each));
  CHECK(all[0] != all[1]);
}

TEST_CASE("where a size alone is asked for, what loses about the least is as fast as it can be") {
  ChoiceTable table;
  table.asksAccuracy = false;
  // As small; the second loses 2 % more and saves time, the third is faster and loses too much.
  table.priced = {{{1, -1, 100}, {1.02, 3, 100}, {1.2, 5, 100}}, {{1, 0, 100}, {1.01, -2, 100}}};
  table.bits = {{36, 12, 12}, {36, 12}};
  table.wantedBytes = 200;
  CHECK(proposals(table, {QuantizeSearch::Exact}) == std::vector<Strategy>{{2, 1}});
  table.wantedSaving = -1; // with a time, the least loss in it
  CHECK(proposals(table, {QuantizeSearch::Exact}) == std::vector<Strategy>{{1, 1}});
}

TEST_CASE("a model without choices stays as it is, whoever searches") {
  ChoiceTable table;
  table.priced = {{}, {}};
  table.bits = {{}, {}};
  for (QuantizeSearch::Kind kind : kKinds)
    for (bool asksAccuracy : {true, false}) {
      table.asksAccuracy = asksAccuracy;
      for (const Strategy &each : proposals(table, {kind}))
        CHECK(each == Strategy{0, 0});
    }
}
