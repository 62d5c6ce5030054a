// What operators on quantised numbers and on three operands refuse.
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft::test;
using Catch::Matchers::StartsWith;

TEST_CASE("integers that stand for reals: types") {
  CHECK(refusal("quantize %a, %b, %c", {"[m, n], f32", "[], f32", "[], ui8"}, {"[m, n], ui8"}) ==
        "");
  // quantize (R1)
  for (auto [input, scale, zero] : {std::tuple("[n], f16", "[], f32", "[], ui8"),
                                    {"[n], f32", "[], f64", "[], ui8"},
                                    {"[n], f32", "[], f32", "[], i32"},
                                    {"[n], f32", "[], f32", "[], i1"}})
    CHECK_THAT(refusal("quantize %a, %b, %c", {input, scale, zero}, {"[n], ui8"}),
               StartsWith("'weft.quantize' makes integers of at most 16 bits from f32, but has "
                          "operands "));
  CHECK(refusal("dequantize %a, %b, %c", {"[n], i32", "[], f32", "[], i32"}, {"[n], f32"}) == "");
  // dequantize (R1)
  for (auto [input, scale, zero] : {std::tuple("[n], f32", "[], f32", "[], f32"),
                                    {"[n], i8", "[], f32", "[], ui8"},
                                    {"[n], i8", "[], f16", "[], i8"}})
    CHECK_THAT(refusal("dequantize %a, %b, %c", {input, scale, zero}, {"[n], f32"}),
               StartsWith("'weft.dequantize' makes f32 from integers and a zero point of their "
                          "type, but has operands "));
  // fake_quantize (R1)
  for (auto [scale, zero, step] : {std::tuple("[], f64", "[], ui8", "[], f32"),
                                   {"[], f32", "[], i32", "[], f32"},
                                   {"[], f32", "[], ui8", "[], f64"}})
    CHECK(refusal("fake_quantize %a, %b, %c, %d", {"[n], f32", scale, zero, step}, {"[n], f32"}) ==
          "'weft.fake_quantize' rounds f32 with scales and steps of f32 and zero points of at most "
          "16 bits");
}

TEST_CASE("integers that stand for reals: dimensions") {
  // quantize (R2)
  CHECK_THAT(refusal("quantize %a, %b, %c", {"[n], f32", "[m], f32", "[], ui8"}, {"[n], ui8"}),
             StartsWith("'weft.quantize': dimension 0 of operand 1 is 'm', but must be 'n'"));
  // dequantize (R2)
  CHECK_THAT(refusal("dequantize %a, %b, %c", {"[n], i8", "[], f32", "[m], i8"}, {"[n], f32"}),
             StartsWith("'weft.dequantize': dimension 0 of operand 2 is 'm', but must be 'n'"));
  // fake_quantize (R2)
  CHECK_THAT(refusal("fake_quantize %a, %b, %c, %d", {"[n], f32", "[], f32", "[], i8", "[m], f32"},
                     {"[n], f32"}),
             StartsWith("'weft.fake_quantize': dimension 0 of operand 3 is 'm', but must be 'n'"));
}

TEST_CASE("tables of bytes") {
  // look_up (R1)
  for (auto [input, table] : {std::pair("[n], i16", "[256], ui8"), {"[n], ui8", "[256], f32"}})
    CHECK_THAT(refusal("look_up %a, %b", {input, table}, {"[n], ui8"}),
               StartsWith("'weft.look_up' gives bytes for bytes, but has operands "));
  // look_up (R2)
  for (const char *table : {"[255], ui8", "[n], ui8", "[1, 256], ui8"})
    CHECK_THAT(refusal("look_up %a, %b", {"[n], ui8", table}, {"[n], ui8"}),
               StartsWith("'weft.look_up' has a table of 256 elements, but not "));
}

TEST_CASE("products with a sum, and bits read as another type") {
  CHECK(refusal("multiply_add %a, %b, %c", {"[m, n], f32", "[n], f32", "[1], f32"},
                {"[m, n], f32"}) == "");
  // multiply_add (R1)
  for (const char *other : {"[n], f64", "[n], i32"})
    CHECK(refusal("multiply_add %a, %b, %c", {"[n], f32", other, "[n], f32"}, {"[n], f32"}) ==
          "'weft.multiply_add' operands must have one float type");
  // multiply_add (R2)
  CHECK_THAT(refusal("multiply_add %a, %b, %c", {"[n], f32", "[n], f32", "[m], f32"}, {"[n], f32"}),
             StartsWith("'weft.multiply_add': dimension 0 of operand 2 is 'm', but must be 'n'"));
  // bitcast (R1)
  CHECK(refusal("bitcast %a to i16", {"[n], f32"}, {"[n], i16"}) ==
        "'weft.bitcast' cannot read elements of 'f32' as 'i16', which have another width");
}
