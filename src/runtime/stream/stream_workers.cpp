// SPDX-License-Identifier: Apache-2.0
// Implements the watcher, its naps and the hand-over to another thread.

#include "src/runtime/stream/stream_workers.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "src/base/fork.h"
#include "src/base/library_thread.h"
#include "src/base/log.h"

namespace advstep {
namespace {

// Waking a thread costs 4-12 us (docs/decisions/0003-streams.md), so a worker that was busy a
// moment ago looks by itself for a while. A nap is short compared with a decode step.
constexpr auto kNap = std::chrono::microseconds(150);
constexpr auto kWakeful = std::chrono::milliseconds(10);

thread_local bool isWatcher = false;

const ForkHook forgetWatcher([](void*) noexcept { isWatcher = false; });

}  // namespace

StreamWorkers::~StreamWorkers() { Stop(); }

void StreamWorkers::EnsureWatcherLocked() {
    if (hasWatcher_) {
        return;
    }
    if (spares_ == 0) {
        try {
            threads_.reserve(threads_.size() + 1);  // a started thread must have a place
            threads_.push_back(StartThread("advstep-stream", [this] { ThreadMain(); }));
        } catch (const std::exception& error) {
            // Synchronising threads still run all work. The next Wake tries again.
            watch_.store(WorkerControl::Watch::kAsleep);
            Log(LogLevel::kError, "cannot start a stream worker: {}", error.what());
            return;
        }
    }
    hasWatcher_ = true;
    called_ = true;
    spare_.notify_one();
}

void StreamWorkers::Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    EnsureWatcherLocked();
    wake_.notify_one();
}

void StreamWorkers::StepAside() {
    if (!isWatcher) {
        return;
    }
    isWatcher = false;
    const std::lock_guard<std::mutex> lock(mutex_);
    hasWatcher_ = false;
    EnsureWatcherLocked();
}

bool StreamWorkers::BecomeWatcher() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++spares_;
    while (!called_ && hasWatcher_ && !stop_) {
        spare_.wait(lock);
    }
    --spares_;
    called_ = false;
    hasWatcher_ = true;
    isWatcher = true;
    return !stop_;
}

void StreamWorkers::NudgeSleepers() {
    ForEachStream([](Stream& stream) { stream.Nudge(); });
}

bool StreamWorkers::LookAtAll(bool thorough, WaitClock::time_point* again) {
    bool ran = false;
    *again = WaitClock::time_point::max();
    ForEachStream([&](Stream& stream) { ran = stream.RunSome(thorough, again) || ran; });
    return ran;
}

void StreamWorkers::Watch() {
    watch_.store(WorkerControl::Watch::kAwake);
    WaitClock::time_point lastActive = WaitClock::now();
    while (isWatcher) {
        WaitClock::time_point again;
        const bool ran = LookAtAll(false, &again);
        if (!isWatcher) {
            return;  // stepped aside: another thread watches now
        }
        if (ran) {
            lastActive = WaitClock::now();
            continue;
        }
        const bool sleep = WaitClock::now() - lastActive >= kWakeful;
        watch_.store(sleep ? WorkerControl::Watch::kAsleep : WorkerControl::Watch::kNapping);
        // The last look before sleeping comes after the store, under the streams' locks: see
        // watch_.
        if (sleep && LookAtAll(true, &again)) {
            if (!isWatcher) {
                return;
            }
            watch_.store(WorkerControl::Watch::kAwake);
            lastActive = WaitClock::now();
            continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        const auto called = [&] { return woken_ || stop_; };
        if (!sleep) {
            wake_.wait_until(lock, std::min(WaitClock::now() + kNap, again), called);
        } else if (again != WaitClock::time_point::max()) {
            // A look at a deadline, or at a condition that no thread announces, is no activity by
            // itself.
            if (wake_.wait_until(lock, again, called)) {
                lastActive = WaitClock::now();
            }
        } else {
            wake_.wait(lock, called);
            lastActive = WaitClock::now();
        }
        watch_.store(WorkerControl::Watch::kAwake);
        woken_ = false;
        if (stop_) {
            hasWatcher_ = false;
            isWatcher = false;
        }
    }
}

void StreamWorkers::ThreadMain() {
    while (BecomeWatcher()) {
        Watch();
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stop_) {
            return;
        }
    }
}

void StreamWorkers::Stop() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        threads.swap(threads_);
    }
    wake_.notify_all();
    spare_.notify_all();
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = false;
    woken_ = false;
    hasWatcher_ = false;
    called_ = false;
    watch_.store(WorkerControl::Watch::kAsleep);
}

}  // namespace advstep
