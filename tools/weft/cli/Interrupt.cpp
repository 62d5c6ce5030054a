//===- Interrupt.cpp --------------------------------------------------------------------------===//
#include "tools/weft/cli/Interrupt.h"

#include <atomic>
#include <csignal>

namespace weft::cli {

static std::atomic<bool> arrived{false};
static std::atomic<weft_context_t *> cancelled{nullptr};

static void onSignal(int) {
  arrived = true;
  if (weft_context_t *context = cancelled)
    weft_cancel(context);
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
    return; // the command is about to say so: a second Ctrl-C must not end it without a word
  sigaction(SIGINT, &beforeInt, nullptr);
  sigaction(SIGTERM, &beforeTerm, nullptr);
}

} // namespace weft::cli
