//===- interrupt_test.cpp - Who takes Ctrl-C, and until when ----------------------------------===//
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Unfinished.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

TEST_CASE("who presses Ctrl-C again does not wait for what runs, and nothing unfinished is left") {
  const std::string path = "unfinished-" + std::to_string(getpid());
  pid_t child = fork();
  if (child == 0) {
    freopen("/dev/null", "w", stderr);
    InterruptGuard guard(nullptr);
    fclose(fopen(path.c_str(), "w"));
    Unfinished file(path);
    std::raise(SIGINT);
    std::raise(SIGTERM); // as `timeout` does, to the process and to its group
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    bool isThere = access(path.c_str(), F_OK) == 0;
    std::raise(isThere ? SIGINT : SIGKILL);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == ExitInterrupted);
  CHECK(access(path.c_str(), F_OK) != 0);
}
