#include "interrupt.h"

#include <signal.h>

#include <atomic>

namespace serve {
namespace {

// Written by the handler, in whatever thread the signal comes.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a handler must not wait for a lock");

}  // namespace

void CatchInterrupt() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace serve
