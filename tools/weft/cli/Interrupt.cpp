//===- Interrupt.cpp --------------------------------------------------------------------------===//
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Unfinished.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <unistd.h>

namespace weft::cli {

static std::atomic<bool> arrived{false};
static std::atomic<int64_t> arrivedAt{0};
static std::atomic<weft_context_t *> cancelled{nullptr};

/// `timeout` signals a process, and its group right behind: that is one request.
static constexpr int64_t kOneRequestMs = 300;

static constexpr unsigned kRemovalSeconds = 5;

static int64_t milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void quit(int) {
  static const char text[] = "error: interrupted\n";
  [[maybe_unused]] ssize_t written = write(2, text, sizeof text - 1);
  _exit(ExitInterrupted);
}

static void onSignal(int signal) {
  if (!arrived.exchange(true))
    arrivedAt = milliseconds();
  else if (milliseconds() > arrivedAt + kOneRequestMs) {
    alarm(kRemovalSeconds); // what was interrupted may hold a lock that this needs
    Unfinished::removeAll();
    quit(signal);
  }
  if (weft_context_t *context = cancelled)
    weft_cancel(context);
}

void endWhenInterrupted() {
  signal(SIGINT, quit);
  signal(SIGTERM, quit);
}

bool interrupted() { return arrived; }

InterruptGuard::InterruptGuard(weft_context_t *context) {
  cancelled = context;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &beforeInt);
  sigaction(SIGTERM, &action, &beforeTerm);
}

void InterruptGuard::watch(weft_context_t *context) { cancelled = context; }

InterruptGuard::~InterruptGuard() {
  cancelled = nullptr;
  if (arrived)
    return; // the command is about to say so, and a second Ctrl-C does
  sigaction(SIGINT, &beforeInt, nullptr);
  sigaction(SIGTERM, &beforeTerm, nullptr);
}

} // namespace weft::cli
