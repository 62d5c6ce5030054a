// The memory that a call of MiniLM uses is what the artifact's formula says, for every shape.
#include "test/support/Memory.h"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace weft::test;

TEST_CASE("arena and scratch of MiniLM are exactly what the formulas say") {
  const char *model = std::getenv("WEFT_TEST_MODEL");
  if (!model || !*model) { // CMakeLists.txt tells ctest what this line means
    WARN("SKIPPED: WEFT_TEST_MODEL does not name the folder of all-MiniLM-L6-v2; tools/fetch-model "
         "prints it");
    return;
  }
  weft::Result<weft::Module> module = weft::Compiler().importFile(model);
  REQUIRE(module);
  Program program(*module);
  REQUIRE(program.error() == "");
  for (int threads : {1, 2})
    for (const Sizes &sizes : {Sizes{{"batch", 1}, {"seq", 7}},
                               {{"batch", 3}, {"seq", 37}},
                               {{"batch", 2}, {"seq", 512}}}) {
      MemoryOfCall memory = memoryOfCall(program, sizes, threads);
      INFO(memory.what);
      REQUIRE(memory.error == "");
      REQUIRE(memory.arena > 0);
      CHECK(memory.most == memory.arena + threads * memory.scratch);
      CHECK(memory.allocationsOfSecondCall == 0);
      CHECK(memory.leaked == 0);
    }
}
