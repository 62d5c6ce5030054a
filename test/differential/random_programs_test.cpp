// 200 fixed seeds and one fresh one. A failure prints the seed and the program; WEFT_SEED=N runs that one alone.
#include "test/differential/RandomProgram.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace weft::test;

static void check(unsigned seed) {
  weft::Module module = randomProgram(seed, 4 + seed % 12);
  INFO("seed " << seed << "\n" << module.text());
  Program program(module, seed % 3 == 2 ? "x86:v3" : "x86:host");
  INFO(program.error());
  REQUIRE(program.error().empty());
  for (const Sizes &sizes : {Sizes{{"m", 0}, {"n", 3}}, Sizes{{"m", 1}, {"n", 1}},
                             Sizes{{"m", 5}, {"n", 17}}, Sizes{{"m", 3}, {"n", 0}}}) {
    INFO("m=" << sizes.at("m") << " n=" << sizes.at("n"));
    double difference = program.difference(sizes, seed);
    INFO(program.error());
    CHECK(difference <= 2e-4);
  }
}

TEST_CASE("compiled programs agree with the reference evaluator") {
  if (const char *text = getenv("WEFT_SEED")) {
    check(unsigned(atoi(text)));
    return;
  }
  for (unsigned seed = 1; seed <= 200; ++seed)
    check(seed);
  unsigned fresh = std::random_device()();
  std::printf("fresh seed %u\n", fresh);
  check(fresh);
}
