// Programs that once failed: found by test/differential, made small. Each sentence says what was wrong.
#include "test/support/Program.h"
#include <catch2/catch.hpp>

using namespace weft::test;

static void agrees(const std::string &text, std::initializer_list<Sizes> all,
                   double tolerance = 1e-5) {
  for (const char *target : {"x86:host", "x86:v3", "x86:v2"}) {
    Program program(text, target);
    INFO(target << " " << text);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &sizes : all) {
      double difference = program.difference(sizes);
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
  }
}

// What 'dequantize' is depends on its readers, and what 'convert' is depended on its operand: the compiler asked without end.
TEST_CASE("restored integers are converted to narrower floats") {
  agrees(R"(func.func @main(%x: !weft.tensor<[m, 5], i8>) -> !weft.tensor<[m, 5], f16>
    attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.fill 7.000000e-02 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 0 : i8 -> !weft.tensor<[], i8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 5], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 5], f32>
  %1 = weft.convert %0 to f16 : (!weft.tensor<[m, 5], f32>) -> !weft.tensor<[m, 5], f16>
  return %1 : !weft.tensor<[m, 5], f16>
})",
         {{{"m", 0}}, {{"m", 1}}, {{"m", 7}}}, 1e-3);
}
