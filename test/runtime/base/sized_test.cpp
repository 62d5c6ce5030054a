#include <catch2/catch.hpp>

#include <cstring>

#include "runtime/src/base/sized.h"
#include "test/runtime/fixture.h"

namespace {
/// A struct that has grown twice.
struct grown {
  uint32_t struct_size;
  int32_t first;
  int64_t second, third;
};
} // namespace

template <> struct weft_sizes<grown> {
  static constexpr size_t all[] = {offsetof(grown, second), offsetof(grown, third), sizeof(grown)};
};

static std::string read(const void *given, grown *known) {
  weft_error_t err = WEFT_ERROR_INIT;
  weft_status_t status = weft_read_sized((const grown *)given, "grown", known, &err);
  return status ? weft_test::text_of(err) : "";
}

TEST_CASE("a struct is read in every size it ever had, and defaults stay for what it lacks") {
  grown given = {0, 1, 2, 3};
  int64_t expected[3][2] = {{-2, -3}, {2, -3}, {2, 3}};
  for (int version = 0; version < 3; ++version) {
    given.struct_size = uint32_t(weft_sizes<grown>::all[version]);
    grown known = {sizeof known, -1, -2, -3};
    REQUIRE(read(&given, &known) == "");
    REQUIRE(known.first == 1);
    REQUIRE(known.second == expected[version][0]);
    REQUIRE(known.third == expected[version][1]);
  }
}

TEST_CASE("half a member is not read") {
  grown given = {uint32_t(offsetof(grown, third)) + 4, 1, 2, 3}, known = {0, -1, -2, -3};
  REQUIRE(read(&given, &known) == "");
  REQUIRE(known.second == 2);
  REQUIRE(known.third == -3);
}

TEST_CASE("a struct that is shorter than the first one or has no possible size is refused") {
  grown given = {}, known = {};
  for (uint32_t size : {0u, 4u, 7u, 4097u, UINT32_MAX}) {
    given.struct_size = size;
    REQUIRE(read(&given, &known) ==
            "W0401 grown.struct_size is " + std::to_string(size) + " instead of 24");
  }
}

TEST_CASE("a struct of a newer program is read unless it asks for what is not known") {
  struct {
    grown known;
    uint64_t unknown;
  } newer = {{sizeof newer, 1, 2, 3}, 0};
  grown known = {};
  REQUIRE(read(&newer, &known) == "");
  REQUIRE(known.third == 3);
  newer.unknown = 1;
  REQUIRE(read(&newer, &known) ==
          "W0401 grown asks for something that this version of the library does not know: byte 24 "
          "of 32 is set, but it knows 24");
}

TEST_CASE("a query fills what the caller's struct has and nothing else") {
  grown value = {0, 1, 2, 3};
  for (size_t size : weft_sizes<grown>::all) {
    grown out;
    std::memset(&out, 0x5a, sizeof out);
    out.struct_size = uint32_t(size);
    REQUIRE(weft_has_room(&out));
    weft_give_sized(&out, value);
    REQUIRE(out.struct_size == size);
    REQUIRE(out.first == 1);
    REQUIRE((out.second == 2) == (size > 8));
    REQUIRE((out.third == 3) == (size > 16));
  }
  grown small = {4, 0, 0, 0};
  REQUIRE_FALSE(weft_has_room(&small));
  REQUIRE_FALSE(weft_has_room<grown>(nullptr));
}
