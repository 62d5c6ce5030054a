#include <catch2/catch.hpp>

#include <string>

#include "runtime/src/base/element.h"

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

TEST_CASE("bytes of a tensor are checked") {
  int64_t bytes, dim[3] = {3, 5, 7};
  REQUIRE(weft_tensor_bytes(WEFT_F32, 3, dim, &bytes));
  REQUIRE(bytes == 420);
  REQUIRE(weft_tensor_bytes(WEFT_U4, 3, dim, &bytes));
  REQUIRE(bytes == 53);
  REQUIRE(weft_tensor_bytes(WEFT_F64, 0, dim, &bytes));
  REQUIRE(bytes == 8);
  int64_t empty[3] = {INT64_MAX, 0, INT64_MAX}, negative[1] = {-1}, large[2] = {1ll << 40, 1 << 20};
  REQUIRE(weft_tensor_bytes(WEFT_F64, 2, empty, &bytes));
  REQUIRE(bytes == 0);
  REQUIRE_FALSE(weft_tensor_bytes(WEFT_F32, 1, negative, &bytes));
  REQUIRE_FALSE(weft_tensor_bytes(WEFT_F32, 2, large, &bytes));
}
