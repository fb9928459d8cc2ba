// SPDX-License-Identifier: Apache-2.0
// Installs the signal handlers and reports whether a signal came.

#include "interrupt.h"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace serve {
namespace {

// Written by the handlers, in whatever thread the signal comes. Nanoseconds of the monotonic clock;
// 0: none came.
std::atomic<int64_t> firstInterrupt{0};
std::atomic<int64_t> firstTerminate{0};
std::atomic<bool> isOneOfSeveral{false};  // not of the handlers: CatchTerminate was called
static_assert(std::atomic<int64_t>::is_always_lock_free, "a handler must not wait for a lock");

// Only calls what a handler may call.
void HandleInterrupt(int number) {
    constexpr int64_t kSecond = 1'000'000'000;
    struct timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    const int64_t now = time.tv_sec * kSecond + time.tv_nsec;
    int64_t first = 0;
    std::atomic<int64_t>& mine = number == SIGINT ? firstInterrupt : firstTerminate;
    if (!mine.compare_exchange_strong(first, now) && now - first >= kSecond) {
        signal(number, SIG_DFL);
        raise(number);  // takes effect when the handler returns
    }
}

void Catch() {
    struct sigaction action = {};
    action.sa_handler = HandleInterrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool Came() {
    return firstInterrupt.load(std::memory_order_relaxed) != 0 ||
           firstTerminate.load(std::memory_order_relaxed) != 0;
}

}  // namespace

void CatchInterrupt() { Catch(); }

bool Interrupted() { return Came() && !isOneOfSeveral.load(std::memory_order_relaxed); }

void CatchTerminate() {
    isOneOfSeveral.store(true, std::memory_order_relaxed);
    Catch();
}

bool Terminated() { return Came() && isOneOfSeveral.load(std::memory_order_relaxed); }

const char* SignalName() {
    return firstInterrupt.load(std::memory_order_relaxed) != 0 ? "SIGINT" : "SIGTERM";
}

void ThrowIfInterrupted() {
    if (Came()) {
        throw InterruptedEarly();
    }
}

}  // namespace serve
