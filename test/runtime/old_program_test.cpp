#include <catch2/catch.hpp>

#include <unistd.h>

#include "test/runtime/fixture.h"
#include "test/runtime/old_program.h"

using namespace weft_test;

TEST_CASE("programs that were compiled for older headers run with this library") {
  int fd = open_bytes(make_sample().seal());
  for (int version : {0, 1}) {
    INFO("version " << version << " of weft_env_t");
    REQUIRE(std::string(weft_old_program(fd, version)) == "");
  }
  close(fd);
}
