// Programs over ranks that once gave wrong numbers: found by random_programs --ranks, made small. Each sentence says what was wrong.
#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "test/differential/Trial.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

static void agrees(const std::string &text, std::vector<Sizes> sizes) {
  Result<Module> module = importText("split.mlir", text);
  INFO(text);
  REQUIRE(module);
  Trial trial;
  trial.sizes = std::move(sizes);
  trial.overRanks = true;
  CHECK(tryProgram(*module, trial) == "");
}

// Parts were widened to integers of so many bits with a sign, so that what comes before the first, 65535, was -1.
TEST_CASE("unsigned numbers are cumulated over ranks as unsigned numbers") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[m, n], ui16> {weft.placement = #weft.placement<[_, t]>})
    -> (!weft.tensor<[m, n], ui16>, !weft.tensor<[m, n], i64>)
    attributes {weft.split_over = #weft.mesh<t = 3>, weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.cumulate min %x axis 1 {exclusive, reverse} : (!weft.tensor<[m, n], ui16>) -> !weft.tensor<[m, n], ui16>
  %1 = weft.convert %0 to i64 : (!weft.tensor<[m, n], ui16>) -> !weft.tensor<[m, n], i64>
  return %0, %1 : !weft.tensor<[m, n], ui16>, !weft.tensor<[m, n], i64>
})",
      {{{"m", 2}, {"n", 1}}, {{"m", 1}, {"n", 7}}, {{"m", 3}, {"n", 0}}});
}
