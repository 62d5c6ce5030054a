#include <catch2/catch.hpp>

#include <string>

#include "weft/runtime.h"

TEST_CASE("elements have a name and a size") {
  REQUIRE(std::string(weft_element_name(WEFT_F32)) == "f32");
  REQUIRE(std::string(weft_element_name(WEFT_BOOL)) == "bool");
  REQUIRE(std::string(weft_element_name(WEFT_BF16)) == "bf16");
  REQUIRE(weft_element_bits(WEFT_I4) == 4);
  REQUIRE(weft_element_bits(WEFT_U2) == 2);
  REQUIRE(weft_element_bits(WEFT_F64) == 64);
  for (uint32_t e = WEFT_BOOL; e <= WEFT_F8E8M0; ++e)
    REQUIRE(weft_element_bits(e) > 0);
}

TEST_CASE("an unknown element has neither") {
  for (uint32_t e : {0u, uint32_t(WEFT_F8E8M0) + 1, UINT32_MAX}) {
    REQUIRE(weft_element_bits(e) == 0);
    REQUIRE(std::string(weft_element_name(e)) == "?");
  }
}
