// Children that crash, hang or refuse, and whether two of them fail the same way.
#include "tools/weft/cli/Options.h"
#include "tools/weft/reduce/Outcome.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace weft::cli;

static ChildEnd run(const std::function<int(int)> &work, double seconds = 60,
                    const std::function<bool()> &stop = {}) {
  return runChild(work, seconds, "/tmp", stop);
}

static int say(const char *text, int exitCode) {
  fprintf(stderr, "%s\n", text);
  return exitCode;
}

TEST_CASE("a child's exit code, words and report come back") {
  ChildEnd end = run([](int report) {
    printf("to nobody\n");
    ssize_t written = write(report, "types", 5);
    return say("error[W0207]: no", written == 5 ? 1 : 9);
  });
  CHECK(end.exitCode == 1);
  CHECK(end.signal == 0);
  CHECK(end.said == "error[W0207]: no\n");
  CHECK(end.report == "types");
}

TEST_CASE("much output does not block a child") {
  ChildEnd end = run([](int) {
    for (int i = 0; i < 100000; ++i)
      fprintf(stderr, "0123456789\n");
    return 0;
  });
  CHECK(end.said.size() == 1100000);
}

TEST_CASE("a crash, a hang and an interruption take nobody along") {
  CHECK(run([](int) -> int { return raise(SIGSEGV); }).signal == SIGSEGV);
  CHECK(run([](int) -> int { abort(); }).signal == SIGABRT);
  ChildEnd slow = run([](int) { return pause(); }, 0.1);
  CHECK(slow.timedOut);
  CHECK(slow.signal == 0);
  ChildEnd stopped = run([](int) { return pause(); }, 60, [] { return true; });
  CHECK(stopped.stopped);
}

static Outcome outcome(int exitCode, const char *text) {
  ChildEnd end;
  end.exitCode = exitCode;
  end.said = text;
  return outcomeOf(end);
}

static Outcome crash(int signal) {
  ChildEnd end;
  end.signal = signal;
  return outcomeOf(end);
}

TEST_CASE("the first run says what must stay") {
  Outcome first = outcome(1, "error[W0207]: a: Foo is not supported\n");
  auto wanted = Wanted::of("", first);
  REQUIRE(wanted);
  CHECK(wanted->name() == std::string("error"));
  CHECK(wanted->matches(outcome(1, "warning: b\nerror[W0207]: c: Bar is not supported\n")));
  CHECK_FALSE(wanted->matches(outcome(1, "error[W0201]: a: Foo is not supported\n")));
  CHECK_FALSE(wanted->matches(outcome(70, "error[W0207]: a\n")));
  CHECK_FALSE(wanted->matches(outcome(0, "")));
  CHECK_FALSE(wanted->matches(crash(SIGSEGV)));
}

TEST_CASE("a text must stay, whatever the code") {
  auto wanted = Wanted::of("error=Foo", outcome(1, "error[W0207]: a: Foo is not supported\n"));
  REQUIRE(wanted);
  CHECK(wanted->matches(outcome(1, "error[W0201]: Foo\n")));
  CHECK_FALSE(wanted->matches(outcome(1, "error[W0207]: a: Bar is not supported\n")));
}

TEST_CASE("a crash stays one of the same signal") {
  auto wanted = Wanted::of("crash", crash(SIGSEGV));
  REQUIRE(wanted);
  CHECK(wanted->matches(crash(SIGSEGV)));
  CHECK_FALSE(wanted->matches(crash(SIGABRT)));
}

TEST_CASE("what the model does not do, and what nobody understands, is refused") {
  Outcome different = outcome(ExitComparisonFailed, "error: output 'y': differs\n");
  CHECK(Wanted::of("different", different));
  CHECK_FALSE(Wanted::of("crash", different));
  CHECK_FALSE(Wanted::of("error=other", outcome(1, "error: this\n")));
  for (const char *text : {"slow", "error=", "crash=x"}) {
    auto wanted = Wanted::of(text, different);
    REQUIRE_FALSE(wanted);
    CHECK(wanted.failure().exitCode == ExitWrongUsage);
  }
}
