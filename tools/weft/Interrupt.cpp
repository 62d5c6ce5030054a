//===- Interrupt.cpp --------------------------------------------------------------------------===//
#include "tools/weft/Interrupt.h"

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

static void handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return arrived; }

InterruptGuard::InterruptGuard(weft_context_t *context) {
  cancelled = context;
  handle(onSignal);
}

void InterruptGuard::watch(weft_context_t *context) { cancelled = context; }

InterruptGuard::~InterruptGuard() {
  handle(SIG_DFL);
  cancelled = nullptr;
}

} // namespace weft::cli
