// SPDX-License-Identifier: Apache-2.0
// Installs the signal handlers and reports whether a signal came.

#include "interrupt.h"

#include <signal.h>

#include <atomic>

namespace serve {
namespace {

// Written by the handlers, in whatever thread the signal comes.
std::atomic<bool> interrupted{false};
std::atomic<bool> terminated{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a handler must not wait for a lock");

void Catch(int number, void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | flags;
    sigaction(number, &action, nullptr);
}

}  // namespace

void CatchInterrupt() {
    for (const int number : {SIGINT, SIGTERM}) {
        Catch(
            number, [](int) { interrupted.store(true, std::memory_order_relaxed); },
            static_cast<int>(SA_RESETHAND));
    }
}

bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

void ThrowIfInterrupted() {
    if (Interrupted()) {
        throw InterruptedEarly();
    }
}

void CatchTerminate() {
    Catch(
        SIGTERM, [](int) { terminated.store(true, std::memory_order_relaxed); }, 0);
}

bool Terminated() { return terminated.load(std::memory_order_relaxed); }

}  // namespace serve
