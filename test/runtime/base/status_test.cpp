#include <catch2/catch.hpp>

#include "runtime/src/base/status.h"

TEST_CASE("an error carries status, code, message and hint") {
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(weft_fail(&err, WEFT_IO, "W0508", "%s: %d", "file", 7) == WEFT_IO);
  weft_set_hint(&err, "try %s", "again");
  REQUIRE(err.status == WEFT_IO);
  REQUIRE(std::string(err.code) == "W0508");
  REQUIRE(std::string(err.message) == "file: 7");
  REQUIRE(std::string(err.hint) == "try again");
  // The next error does not keep the hint of the last one, and success empties all.
  weft_fail(&err, WEFT_BUSY, "W0431", "busy");
  REQUIRE(std::string(err.hint).empty());
  REQUIRE(weft_succeed(&err) == WEFT_OK);
  REQUIRE(std::string(err.code) + err.message == "");
}

TEST_CASE("nobody needs to want the error") {
  REQUIRE(weft_fail(nullptr, WEFT_INVALID, "W0401", "x") == WEFT_INVALID);
  weft_set_hint(nullptr, "x");
  REQUIRE(weft_succeed(nullptr) == WEFT_OK);
}

TEST_CASE("long messages are cut between characters, control characters are replaced") {
  weft_error_t err = WEFT_ERROR_INIT;
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'a');
    while (text.size() < 600)
      text += "\xE2\x82\xAC"; // the Euro sign, three bytes
    weft_fail(&err, WEFT_IO, "W0508", "%s", text.c_str());
    size_t length = strlen(err.message);
    REQUIRE(length >= 484);
    REQUIRE((length - shift) % 3 == 0);
  }
  weft_fail(&err, WEFT_IO, "W0508", "a\x1b[31mb\nc\x7f");
  REQUIRE(std::string(err.message) == "a?[31mb?c?");
}

TEST_CASE("a text in a small buffer is cut") {
  char buffer[8];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  weft_text_add(&text, "%s", "abcd");
  weft_text_add(&text, "%s", "efghijkl");
  weft_text_add(&text, "%s", "more");
  REQUIRE(std::string(buffer) == "abcdefg");
  REQUIRE(text.used == 7);
}

static std::string bytes_text(uint64_t bytes) {
  char buffer[40];
  weft_text_t text = weft_text_in(buffer, sizeof buffer);
  weft_text_add_bytes(&text, bytes);
  return buffer;
}

TEST_CASE("bytes are printed in binary units, rounded up") {
  REQUIRE(bytes_text(0) == "0 bytes");
  REQUIRE(bytes_text(1023) == "1023 bytes");
  REQUIRE(bytes_text(1024) == "1 KiB");
  REQUIRE(bytes_text(1025) == "1.1 KiB");
  REQUIRE(bytes_text(32 << 20) == "32 MiB");
  REQUIRE(bytes_text((121 << 20) / 2) == "60.5 MiB");
  REQUIRE(bytes_text((2 << 20) - 1) == "2 MiB");
  REQUIRE(bytes_text(1ull << 62) == "4 EiB");
  REQUIRE(bytes_text(UINT64_MAX) == "16 EiB");
}
