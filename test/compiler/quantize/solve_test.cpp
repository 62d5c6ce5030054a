// The solver against all strategies of small tables, and what it does at their ends.
#include "compiler/quantize/propose/Solve.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>

using namespace weft;

namespace {

PricedDecisions randomTable(std::mt19937 &random) {
  std::uniform_real_distribution<double> number(0, 1);
  PricedDecisions decisions(1 + random() % 8);
  for (auto &choices : decisions)
    for (unsigned i = random() % 4; i-- > 0;)
      choices.push_back({std::pow(number(random), 4), number(random) - 0.2});
  return decisions;
}

void forAll(const PricedDecisions &decisions, const std::function<void(const Strategy &)> &visit) {
  Strategy strategy(decisions.size(), 0);
  for (;;) {
    visit(strategy);
    size_t i = 0;
    while (i < decisions.size() && strategy[i] == decisions[i].size())
      strategy[i++] = 0;
    if (i == decisions.size())
      return;
    ++strategy[i];
  }
}

/// The most that any strategy saves that loses at most so much.
double mostSaved(const PricedDecisions &decisions, double bound) {
  double most = 0;
  forAll(decisions, [&](const Strategy &each) {
    if (lossOf(decisions, each) <= bound)
      most = std::max(most, savingOf(decisions, each));
  });
  return most;
}

} // namespace

TEST_CASE("no strategy that loses as much saves more") {
  std::mt19937 random(7);
  for (int table = 0; table < 200; ++table) {
    PricedDecisions decisions = randomTable(random);
    double bound = std::uniform_real_distribution<double>(0.05, 2)(random);
    double slack = bound * double(decisions.size()) / kLossParts;
    Strategy found = solve(decisions, bound);
    INFO("table " << table);
    CHECK(lossOf(decisions, found) <= bound + slack);
    CHECK(savingOf(decisions, found) >= mostSaved(decisions, bound - slack) - 1e-12);
    CHECK(savingOf(decisions, found) <= mostSaved(decisions, bound + slack) + 1e-12);
  }
}

TEST_CASE("no strategy that saves as much loses less") {
  std::mt19937 random(8);
  for (int table = 0; table < 50; ++table) {
    PricedDecisions decisions = randomTable(random);
    double most = savingOf(decisions, fastestOf(decisions));
    double wanted = most * 0.6;
    Strategy found = solveForSaving(decisions, wanted);
    INFO("table " << table);
    CHECK(savingOf(decisions, found) >= wanted);
    double loss = lossOf(decisions, found);
    CHECK(mostSaved(decisions, loss * 0.99 - 1e-9) <= wanted + 1e-9 + (loss == 0 ? most : 0));
  }
}

TEST_CASE("with a size, what is smaller but slow is taken where it is needed, and only there") {
  // a table that saves no time, a layer that saves both, and one whose choice is larger
  PricedDecisions decisions{{{0.1, -1, 100}}, {{0.1, 3, 20}, {0.3, 4, 20}}, {{0.1, 1, -10}}};
  CHECK(solve(decisions, 1, kAnyBytes) == Strategy{0, 2, 1});
  CHECK(savingOf(decisions, solve(decisions, 1, 15)) == 4);
  CHECK(solve(decisions, 1, 100) == Strategy{1, 2, 1});
  CHECK(solve(decisions, 0.25, 115) == Strategy{1, 1, 0});
  CHECK(bytesOf(decisions, solve(decisions, 1, 1e6)) == 120); // out of reach: the smallest
  CHECK(solveForSaving(decisions, 2, 100) == Strategy{1, 1, 0});
}

TEST_CASE("a size is kept wherever some strategy keeps it") {
  std::mt19937 random(9);
  for (int table = 0; table < 200; ++table) {
    PricedDecisions decisions = randomTable(random);
    double most = 0;
    for (auto &choices : decisions) {
      double largest = 0;
      for (PricedChoice &choice : choices)
        largest = std::max(largest, choice.bytes = double(random() % 100));
      most += largest;
    }
    Strategy found = solve(decisions, 100, most * 0.7);
    INFO("table " << table);
    CHECK(bytesOf(decisions, found) >= most * 0.7);
    double saved = -INFINITY; // by the best that is as small
    forAll(decisions, [&](const Strategy &each) {
      if (bytesOf(decisions, each) >= bytesOf(decisions, found))
        saved = std::max(saved, savingOf(decisions, each));
    });
    CHECK(savingOf(decisions, found) >= saved - 1e-9);
  }
}

TEST_CASE("with a loss and a size, no strategy that keeps both saves more") {
  std::mt19937 random(10);
  for (int table = 0; table < 100; ++table) {
    PricedDecisions decisions = randomTable(random);
    double all = 0;
    for (auto &choices : decisions)
      for (PricedChoice &choice : choices)
        all += choice.bytes = double(random() % 100) - 10;
    double bound = std::uniform_real_distribution<double>(0.1, 1)(random), bytes = all * 0.3;
    double lossSlack = bound * double(decisions.size()) / kLossPartsWithBytes;
    double byteSlack = 2 * bytes * double(decisions.size()) / kByteParts;
    Strategy found = solve(decisions, bound, bytes);
    double most = -INFINITY; // of those that keep both with room to spare
    forAll(decisions, [&](const Strategy &each) {
      if (lossOf(decisions, each) <= bound - lossSlack &&
          bytesOf(decisions, each) >= bytes + byteSlack)
        most = std::max(most, savingOf(decisions, each));
    });
    INFO("table " << table);
    if (bytes <= 0 || most == -INFINITY)
      continue;
    CHECK(bytesOf(decisions, found) >= bytes);
    CHECK(lossOf(decisions, found) <= bound + lossSlack);
    CHECK(savingOf(decisions, found) >= most - 1e-12);
  }
}

TEST_CASE("what saves nothing is not chosen, and what cannot be reached is the fastest") {
  PricedDecisions decisions{{{0.1, -1}, {0.2, 0}}, {}, {{0.5, 3}, {0.1, 2}}};
  CHECK(fastestOf(decisions) == Strategy{0, 0, 1});
  CHECK(solve(decisions, 1) == Strategy{0, 0, 1});
  CHECK(solve(decisions, 0.2) == Strategy{0, 0, 2});
  CHECK(solve(decisions, 0) == Strategy{0, 0, 0});
  CHECK(solveForSaving(decisions, 100) == Strategy{0, 0, 1});
  CHECK(solveForSaving(decisions, 1.5) == Strategy{0, 0, 2});
}

TEST_CASE("of what makes a file as small as can be, the fastest is taken") {
  PricedDecisions decisions = {{{0.1, 0, 100}, {0.1, 2, 100}, {0.1, 1, 100}},
                               {{0.1, 3, 50}, {0.1, 0, 60}}};
  CHECK(solve(decisions, INFINITY, 1000) == Strategy{2, 2});
  CHECK(solveForSaving(decisions, -INFINITY, 1000) == Strategy{2, 2});
}
