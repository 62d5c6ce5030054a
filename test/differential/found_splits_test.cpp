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

// A bool has a byte of the file, but parts of bools were looked for as if it had a bit.
TEST_CASE("bools that ranks have parts of are gathered") {
  std::string elements;
  for (int i = 0; i < 24; ++i)
    elements += std::string(i % 8 ? ", " : i ? "], [" : "[[") + (i * i % 5 == 1 ? "true" : "false");
  agrees("func.func @main() -> !weft.tensor<[3, 8], i1> attributes {weft.split_over = #weft.mesh<t "
         "= 2>, "
         "weft.symbols = #weft.symbols<>} {\n  %0 = weft.constant dense<" +
             elements +
             "]]> : tensor<3x8xi1> {weft.placement = #weft.placement<[t*, _]>} -> "
             "!weft.tensor<[3, 8], i1>\n  return %0 : !weft.tensor<[3, 8], i1>\n}",
         {{}});
}

// What the runtime does not combine was cut where it is summed, and then refused.
TEST_CASE("the extremum of a line of small floats is computed of the whole line") {
  agrees(
      R"(func.func @main(%x: !weft.tensor<[n, 16], f8E4M3FN> {weft.placement = #weft.placement<[_, t]>})
    -> !weft.tensor<[n], f8E4M3FN> attributes {weft.split_over = #weft.mesh<t = 3>, weft.symbols = #weft.symbols<n>} {
  %0 = weft.reduce max %x [1] : (!weft.tensor<[n, 16], f8E4M3FN>) -> !weft.tensor<[n], f8E4M3FN>
  return %0 : !weft.tensor<[n], f8E4M3FN>
})",
      {{{"n", 1}}, {{"n", 5}}});
}
