// The formula of a plan's memory against the plan's own offsets, and what finding it costs.
#include "mlir/IR/MLIRContext.h"
#include "passes/plan/PlanMemory.h"
#include <catch2/catch.hpp>
#include <random>

using namespace weft;
using namespace mlir;

namespace {

using Random = std::mt19937_64;

/// Images of some resolutions whose buffers live for a few steps: what a network with free sizes plans.
class Images {
public:
  explicit Images(uint64_t seed, unsigned resolutions) : random(seed), facts(&context) {
    SymExpr one = SymExpr::constant(&context, 1);
    for (const char *name : {"batch", "height", "width"}) {
      names.push_back(StringAttr::get(&context, name));
      facts = facts.with(SymPred::le(one, SymExpr::symbol(names.back())));
    }
    SymExpr height = SymExpr::symbol(names[1]), width = SymExpr::symbol(names[2]);
    for (unsigned i = 0; i < resolutions; ++i) {
      areas.push_back(height * width);
      height = SymExpr::floordiv(height + SymExpr::mod(height, 2), 2);
      width = SymExpr::ceildiv(width, 2);
    }
  }

  void add(unsigned resolution, int64_t bytes, unsigned birth, unsigned death) {
    classes.push_back({SymExpr::symbol(names[0]) * areas[resolution] * bytes, birth, death});
  }
  void addRandom(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      add(random() % areas.size(), 64 * int64_t(1 + random() % 8), i, i + random() % 6);
  }

  MemoryPlan plan() { return planMemory(classes, 0, names, facts, &context); }

  /// The end of the last buffer, as offsets are computed at run time.
  int64_t takenBy(const MemoryPlan &plan, const SymValues &values) {
    std::vector<int64_t> tops(classes.size());
    int64_t most = 0;
    for (unsigned i : plan.order) {
      int64_t offset = 0;
      for (unsigned below : plan.below[i])
        offset = std::max(offset, tops[below]);
      tops[i] = offset + *classes[i].bytes.evaluate(values);
      most = std::max(most, tops[i]);
    }
    return most;
  }

  SymValues randomSizes() {
    SymValues values;
    for (StringAttr name : names)
      values[name] = 1 + random() % (random() % 2 ? 9 : 700);
    return values;
  }

  std::vector<StorageClass> classes;

private:
  MLIRContext context;
  Random random;
  SymFacts facts;
  SmallVector<StringAttr> names;
  std::vector<SymExpr> areas;
};

int64_t largestOf(const MemoryPlan &plan, const SymValues &values) {
  int64_t most = 0;
  for (SymExpr peak : plan.peaks)
    most = std::max(most, *peak.evaluate(values));
  return most;
}

size_t lengthOf(const MemoryPlan &plan) {
  size_t length = 0;
  for (SymExpr peak : plan.peaks)
    length += peak.str().size();
  return length;
}

} // namespace

TEST_CASE("the formula is what the offsets take") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Images images(seed, 1 + seed % 6);
    images.addRandom(4 + seed);
    MemoryPlan plan = images.plan();
    for (int i = 0; i < 50; ++i) {
      SymValues values = images.randomSizes();
      int64_t taken = images.takenBy(plan, values), said = largestOf(plan, values);
      INFO("seed " << seed);
      if (plan.isExact)
        REQUIRE(said == taken);
      else
        REQUIRE(said >= taken);
    }
  }
}

TEST_CASE("a hundred buffers of six resolutions have few peaks and a short formula") {
  Images images(7, 6);
  images.addRandom(100);
  MemoryPlan plan = images.plan();
  CHECK(plan.peaks.size() <= 64);
  CHECK(lengthOf(plan) < 20000);
}

TEST_CASE("too many sums become one that is never smaller") {
  // A tree of lives inside of lives, each size a symbol of its own: every path is another sum, and none is at least another.
  MLIRContext context;
  SymFacts facts(&context);
  SmallVector<StringAttr> names;
  std::vector<StorageClass> classes;
  constexpr unsigned depth = 8;
  for (unsigned level = 0; level < depth; ++level)
    for (unsigned i = 0; i < 1u << level; ++i) {
      unsigned length = 1u << (depth - 1 - level);
      names.push_back(StringAttr::get(&context, "s" + std::to_string(names.size())));
      classes.push_back({SymExpr::symbol(names.back()) * 64, i * length, (i + 1) * length - 1});
    }
  MemoryPlan plan = planMemory(classes, 0, names, facts, &context);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    SymValues values;
    for (StringAttr name : names)
      values[name] = random() % 100;
    std::vector<int64_t> tops(classes.size());
    for (unsigned each : plan.order) {
      for (unsigned below : plan.below[each])
        tops[each] = std::max(tops[each], tops[below]);
      tops[each] += *classes[each].bytes.evaluate(values);
    }
    REQUIRE(largestOf(plan, values) >= *std::max_element(tops.begin(), tops.end()));
  }
  CHECK_FALSE(plan.isExact);
  CHECK(plan.peaks.size() <= 64);
}
