#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "runtime/src/base/sha256.h"

static std::string hex(const uint8_t digest[32]) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 32; ++i)
    text += {digits[digest[i] >> 4], digits[digest[i] & 15]};
  return text;
}

static std::string hash(const std::string &text) {
  uint8_t digest[32];
  weft_sha256(text.data(), text.size(), digest);
  return hex(digest);
}

TEST_CASE("the examples of FIPS 180-4") {
  REQUIRE(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  REQUIRE(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  REQUIRE(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  REQUIRE(hash(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces of any size give the hash of the whole") {
  std::mt19937 random(1);
  std::vector<uint8_t> data(1000);
  for (uint8_t &byte : data)
    byte = uint8_t(random());
  for (size_t size = 0; size < 300; ++size) {
    uint8_t whole[32], pieces[32];
    weft_sha256(data.data(), size, whole);
    weft_sha256_t state;
    weft_sha256_init(&state);
    for (size_t at = 0; at < size;) {
      size_t step = std::min<size_t>(random() % 100, size - at);
      weft_sha256_update(&state, data.data() + at, step);
      at += step;
    }
    weft_sha256_final(&state, pieces);
    REQUIRE(hex(whole) == hex(pieces));
  }
}

// On a machine without the instructions this compares the function with itself.
TEST_CASE("special instructions and portable code agree") {
  std::mt19937 random(2);
  for (size_t blocks = 1; blocks < 40; ++blocks) {
    std::vector<uint8_t> data(64 * blocks);
    for (uint8_t &byte : data)
      byte = uint8_t(random());
    weft_sha256_t state, portable;
    weft_sha256_init(&state);
    portable = state;
    weft_sha256_update(&state, data.data(), data.size());
    weft_sha256_compress_portable(portable.state, data.data(), blocks);
    REQUIRE(std::equal(state.state, state.state + 8, portable.state));
  }
}
