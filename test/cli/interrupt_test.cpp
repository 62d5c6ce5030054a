//===- interrupt_test.cpp - Who takes Ctrl-C, and until when ----------------------------------===//
#include "tools/weft/cli/Interrupt.h"

#include <catch2/catch.hpp>

using namespace weft::cli;

static int outside = 0;

TEST_CASE("Ctrl-C goes back to who had it, unless it arrived") {
  std::signal(SIGINT, [](int) { ++outside; });
  { InterruptGuard guard(nullptr); }
  std::raise(SIGINT);
  CHECK(outside == 1);
  CHECK(!interrupted());

  {
    InterruptGuard guard(nullptr);
    std::raise(SIGINT);
    CHECK(interrupted());
  }
  // The second one comes while the command ends: what it has to say must still be said.
  std::raise(SIGINT);
  CHECK(outside == 1);
  std::signal(SIGINT, SIG_DFL);
}
