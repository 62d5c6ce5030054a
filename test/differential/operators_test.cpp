// The random programs of the tests have every operator of the dialect, whichever those are: a new operator needs a maker.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/differential/RandomProgram.h"
#include <catch2/catch.hpp>
#include <set>

using namespace weft::test;

/// Operators that no program of the graph level has, and why.
static const std::map<std::string, std::string> kNotMade = {
    {"weft.check_positions", "a pass makes it for every gather and scatter that may be outside"},
    {"weft.kernel", "passes make it: every program here becomes kernels when it is compiled"},
    {"weft.look_up", "a pass makes it of functions of bytes, for which there is a maker"},
};

TEST_CASE("random programs have every operator of the dialect") {
  std::set<std::string> made, all; // but what ranks do together: programs here are compiled
  for (unsigned seed = 1; seed <= WEFT_TEST_SEEDS; ++seed) {
    RandomProgram program = randomProgram(seed);
    program.module.get().module->walk(
        [&](mlir::Operation *op) { made.insert(op->getName().getStringRef().str()); });
    for (mlir::RegisteredOperationName name :
         program.module.get().context->getRegisteredOperations())
      if (name.getDialectNamespace() == "weft" && !name.hasInterface<weft::CollectiveOpInterface>())
        all.insert(name.getStringRef().str());
  }
  REQUIRE(all.size() > 80);
  for (const std::string &name : all) {
    INFO(name);
    CHECK(made.count(name) != kNotMade.count(name));
  }
}

TEST_CASE("a seed always gives the same program") {
  for (unsigned seed : {3u, 77u})
    CHECK(randomProgram(seed).module.text() == randomProgram(seed).module.text());
}
