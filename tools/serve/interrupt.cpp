// SPDX-License-Identifier: Apache-2.0
// Installs the signal handlers and reports whether a signal came.

#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace serve {
namespace {

// Written by the handlers, in whatever thread the signal comes. Nanoseconds of the monotonic clock;
// 0: none came.
std::atomic<int64_t> firstInterrupt{0};
std::atomic<int64_t> firstTerminate{0};
std::atomic<bool> isOneOfSeveral{false};  // not of the handlers: CatchTerminate was called
static_assert(std::atomic<int64_t>::is_always_lock_free, "a handler must not wait for a lock");

// The paths of temporary files, each with a zero behind it. They are written once, in order, by the
// thread that makes the files, before endedCount counts them; handlers in any thread read them.
constexpr size_t kMostEnded = 16;
std::array<std::array<char, PATH_MAX>, kMostEnded> endedPaths;
std::atomic<size_t> endedCount{0};

// Only calls what a handler may call.
void HandleInterrupt(int number) {
    constexpr int64_t kSecond = 1'000'000'000;
    struct timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    const int64_t now = time.tv_sec * kSecond + time.tv_nsec;
    int64_t first = 0;
    std::atomic<int64_t>& mine = number == SIGINT ? firstInterrupt : firstTerminate;
    if (!mine.compare_exchange_strong(first, now) && now - first >= kSecond) {
        for (size_t i = 0; i < endedCount.load(std::memory_order_acquire); ++i) {
            unlink(endedPaths[i].data());
        }
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

void RemoveWhenEnded(const std::string& path) {
    const size_t count = endedCount.load(std::memory_order_relaxed);
    if (count < kMostEnded && path.size() < PATH_MAX) {
        std::copy(path.begin(), path.end(), endedPaths[count].begin());
        endedCount.store(count + 1, std::memory_order_release);
    }
}

void ThrowIfInterrupted() {
    if (Came()) {
        throw InterruptedEarly();
    }
}

}  // namespace serve
