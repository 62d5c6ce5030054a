#include "passes/plan/Regions.h"
#include "weft/artifact.h"
#include <catch2/catch.hpp>
#include <random>

using namespace weft;

namespace {

/// Kernels with one result each, of so many bytes, and a value `x` of 100 bytes from before that kernels without needs read.
struct Graph {
  std::vector<RegionKernel> kernels;
  std::vector<RegionValue> values{{std::nullopt, {}, false, {100}}};

  unsigned add(std::initializer_list<unsigned> needs, int64_t bytes, bool splitsWell = false) {
    unsigned kernel = kernels.size();
    kernels.push_back({needs, splitsWell});
    values.push_back({kernel, {}, false, {bytes}});
    for (unsigned each : needs)
      values[each + 1].readers.push_back(kernel);
    if (!needs.size())
      values[0].readers.push_back(kernel);
    return kernel;
  }
  Regions regions() const { return formRegions(kernels, values); }
};

/// The most that is alive while regions run.
int64_t peakOf(const Graph &graph, const Regions &regions) {
  std::vector<size_t> position(graph.kernels.size());
  for (size_t r = 0; r < regions.size(); ++r)
    for (unsigned kernel : regions[r])
      position[kernel] = r;
  std::vector<int64_t> alive(regions.size());
  for (const RegionValue &value : graph.values) {
    size_t first = value.producer ? position[*value.producer] : 0, last = first;
    for (unsigned reader : value.readers)
      last = std::max(last, position[reader]);
    if (value.isKept)
      last = regions.size() - 1;
    for (size_t r = first; r <= last; ++r)
      alive[r] += value.bytes[0];
  }
  return *std::max_element(alive.begin(), alive.end());
}

Regions oneByOne(const Graph &graph) {
  Regions regions;
  for (unsigned kernel = 0; kernel < graph.kernels.size(); ++kernel)
    regions.push_back({kernel});
  return regions;
}

} // namespace

TEST_CASE("a chain stays as it is") {
  Graph g;
  unsigned a = g.add({}, 10), b = g.add({a}, 10);
  g.add({b}, 10);
  CHECK(g.regions() == oneByOne(g));
}

TEST_CASE("branches of unequal lengths run side by side, whichever order the program has") {
  Graph g;
  unsigned a = g.add({}, 10);
  unsigned b = g.add({}, 10), c = g.add({b}, 10);
  unsigned d = g.add({}, 10), e = g.add({d}, 10), f = g.add({e}, 10);
  unsigned all = g.add({a, c, f}, 10);
  CHECK(g.regions() == Regions{{a, b, d}, {c, e}, {f}, {all}});
}

TEST_CASE(
    "two that keep all workers busy stay apart, and one of them may fill the gaps of others") {
  Graph g;
  unsigned a = g.add({}, 10, true), b = g.add({}, 10, true);
  g.add({a, b}, 10, true);
  CHECK(g.regions() == oneByOne(g));
  Graph mixed;
  a = mixed.add({}, 10, true);
  b = mixed.add({}, 10, false);
  unsigned c = mixed.add({}, 10, true);
  CHECK(mixed.regions() == Regions{{a, b, c}});
}

TEST_CASE("no more kernels than a region may have") {
  Graph g;
  for (unsigned i = 0; i < WEFT_MAX_PARTS + 3; ++i)
    g.add({}, 10);
  Regions regions = g.regions();
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].size() == WEFT_MAX_PARTS);
  CHECK(regions[1].size() == 3);
}

TEST_CASE("what is alive at once hardly grows") {
  // Each branch widens a lot before it narrows: side by side they would need twice the memory.
  const int64_t wide = 1 << 20;
  Graph g;
  unsigned a = g.add({}, wide), b = g.add({a}, 10);
  unsigned c = g.add({}, wide), d = g.add({c}, 10);
  g.add({b, d}, 10);
  CHECK(g.regions() == oneByOne(g));
  // Where little is alive, little more may be.
  Graph small;
  a = small.add({}, 1000), b = small.add({a}, 10);
  c = small.add({}, 1000), d = small.add({c}, 10);
  unsigned last = small.add({b, d}, 10);
  CHECK(small.regions() == Regions{{a, c}, {b, d}, {last}});
}

TEST_CASE("random graphs: every kernel once and behind what it needs, within the limit of memory") {
  std::mt19937 random(11);
  unsigned joined = 0;
  for (int round = 0; round < 500; ++round) {
    Graph g;
    for (unsigned k = 0, count = 1 + random() % 60; k < count; ++k) {
      std::vector<unsigned> needs;
      for (unsigned n = random() % 3; k && n; --n)
        if (unsigned need = k - 1 - random() % std::min(k, 9u);
            std::find(needs.begin(), needs.end(), need) == needs.end())
          needs.push_back(need);
      g.add({}, int64_t(random() % 1000000), random() % 3 == 0);
      if (!needs.empty())
        g.values[0].readers.pop_back();
      for (unsigned need : needs) {
        g.kernels[k].needs.push_back(need);
        g.values[need + 1].readers.push_back(k);
      }
      g.values.back().isKept = random() % 10 == 0;
    }
    Regions regions = g.regions();
    REQUIRE(regions == g.regions());
    std::vector<bool> done(g.kernels.size());
    size_t count = 0;
    for (const auto &region : regions) {
      for (unsigned kernel : region)
        for (unsigned need : g.kernels[kernel].needs)
          REQUIRE(done[need]);
      for (unsigned kernel : region)
        done[kernel] = true;
      count += region.size();
      joined += region.size() > 1;
    }
    REQUIRE(count == g.kernels.size());
    REQUIRE(std::find(done.begin(), done.end(), false) == done.end());
    int64_t before = peakOf(g, oneByOne(g));
    REQUIRE(peakOf(g, regions) <= before + std::max<int64_t>(before / 20, 64 << 10));
  }
  CHECK(joined > 500);
}
