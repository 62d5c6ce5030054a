#include <catch2/catch.hpp>

#include <cstring>

#include "runtime/src/base/memory.h"
#include "test/runtime/fixture.h"

TEST_CASE("libc's memory is aligned as asked, large blocks to huge pages") {
  weft_env_t env = {};
  for (size_t bytes : {size_t(1), size_t(100), size_t(WEFT_HUGE_PAGE) - 1, size_t(WEFT_HUGE_PAGE),
                       size_t(WEFT_HUGE_PAGE) * 3 + 12345}) {
    size_t alignment = weft_block_alignment(bytes);
    REQUIRE(alignment == (bytes < WEFT_HUGE_PAGE ? 64 : WEFT_HUGE_PAGE));
    void *block = weft_allocate(&env, bytes, alignment);
    REQUIRE(block != nullptr);
    REQUIRE(uintptr_t(block) % alignment == 0);
    std::memset(block, 1, bytes);
    weft_free(&env, block, bytes);
  }
  weft_free(&env, nullptr, 5);
}

TEST_CASE("too much is NULL, not a crash") {
  weft_env_t env = {};
  REQUIRE(weft_allocate(&env, SIZE_MAX - 100, WEFT_HUGE_PAGE) == nullptr);
  REQUIRE(weft_allocate(&env, size_t(1) << 60, WEFT_HUGE_PAGE) == nullptr);
}

TEST_CASE("the embedder's functions get the sizes and alignments") {
  weft_test::counting_memory memory;
  weft_env_t env = memory.env();
  void *block = weft_allocate(&env, 3 << 20, weft_block_alignment(3 << 20));
  REQUIRE(memory.last_bytes == 3 << 20);
  REQUIRE(memory.last_alignment == WEFT_HUGE_PAGE);
  REQUIRE(memory.live_bytes == 3 << 20);
  weft_free(&env, block, 3 << 20);
  REQUIRE(memory.live == 0);
  REQUIRE(memory.live_bytes == 0);
}
