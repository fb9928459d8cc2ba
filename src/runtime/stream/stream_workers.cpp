// SPDX-License-Identifier: Apache-2.0
// Implements the watcher, its naps and the hand-over to another thread.

#include "src/runtime/stream/stream_workers.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "src/base/fork.h"
#include "src/base/library_thread.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

// Waking the watcher costs the waker 4 to 25 us (docs/internals/decisions/0003-streams.md), more
// than a call takes whose data the caches have lost. So the watcher is not woken while threads
// queue work that they wait for, be it once in a decode step. It naps and looks by itself, in case
// one of them does not wait this time. Each nap is twice as long as the one before until it finds
// work; the longest is short compared with a decode step.
constexpr std::chrono::microseconds kFirstNap(150);
constexpr std::chrono::microseconds kLongestNap(2000);
constexpr std::chrono::milliseconds kWakeful(100);

// The watcher that has run work for which no thread waits looks once more after this time, before
// it has to be woken. So enqueuers that never wait wake it at most once in this time.
constexpr auto kRest = std::chrono::microseconds(40);

// Linux ends a nap up to 50 us late unless the thread asks for less.
constexpr unsigned long kTimerSlackNanoseconds = 1000;

thread_local bool isWatcher = false;

const ForkHook forgetWatcher([](void*) noexcept { isWatcher = false; });

}  // namespace

StreamWorkers::~StreamWorkers() { Stop(); }

void StreamWorkers::EnsureWatcherLocked() {
    // The calling thread has queued or run work. Other threads may since have run the rest, ended
    // the stream and even finalized the runtime. No thread would end a worker that is started then.
    if (hasWatcher_ || stop_ || NoStream()) {
        return;
    }
    if (spares_ == 0) {
        try {
            threads_.reserve(threads_.size() + 1);  // a started thread must have a place
            threads_.push_back(StartThread("advstep-stream", [this] { ThreadMain(); }));
        } catch (const std::exception& error) {
            // Synchronising threads still run the work. The next Wake tries again.
            watch_.store(WorkerControl::Watch::kAsleep);
            missing_.store(true);
            Log(LogLevel::kError, "cannot start a stream worker: {}", error.what());
            return;
        }
    }
    hasWatcher_ = true;
    missing_.store(false);
    called_ = true;
    spare_.notify_one();
}

void StreamWorkers::Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    EnsureWatcherLocked();
    if (hasWatcher_) {
        // It looks again before it sleeps, so later enqueuers need not wake it.
        watch_.store(WorkerControl::Watch::kAwake);
    }
    wake_.notify_one();
}

void StreamWorkers::StepAside() {
    if (!isWatcher) {
        return;
    }
    isWatcher = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        hasWatcher_ = false;
        lastNap_ = {};  // work was found
        EnsureWatcherLocked();
    }
    if (missing_.load()) {
        NudgeSleepers();
    }
}

bool StreamWorkers::Watches() const { return isWatcher; }

bool StreamWorkers::BecomeWatcher() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++spares_;
    while (!called_ && hasWatcher_ && !stop_) {
        spare_.wait(lock);
    }
    --spares_;
    called_ = false;
    hasWatcher_ = true;
    missing_.store(false);
    isWatcher = true;
    return !stop_;
}

void StreamWorkers::NudgeSleepers() {
    ForEachStream([](Stream& stream) { stream.Nudge(); });
}

bool StreamWorkers::LookAtAll(Look look, WaitClock::time_point* again) {
    bool ran = false;
    *again = WaitClock::time_point::max();
    ForEachStream([&](Stream& stream) {
        const bool unwaited = stream.NobodyWaits();
        if ((look == Look::kAfterNap && stream.WaitersRunIt()) ||
            (look == Look::kUnwaited && !unwaited)) {
            return;
        }
        if (isWatcher) {
            runsUnwaited_ = unwaited;  // for the next watcher, if this thread steps aside
        }
        if (stream.RunSome(look == Look::kThorough, again)) {
            ran = true;
            if (isWatcher) {
                rest_ = rest_ || unwaited;
                lastNap_ = {};
            }
        }
    });
    return ran;
}

bool StreamWorkers::QueuedForWaiters() const {
    bool queued = false;
    ForEachStream([&](Stream& stream) { queued = stream.QueuedForWaiters() || queued; });
    return queued;
}

StreamWorkers::Pause StreamWorkers::NextPause() {
    const WaitClock::time_point now = WaitClock::now();
    if (QueuedForWaiters()) {
        lastQueued_ = now;
    }
    if (std::exchange(rest_, false)) {
        return {WorkerControl::Watch::kResting, now + kRest};
    }
    if (now - lastQueued_ >= kWakeful) {
        return {WorkerControl::Watch::kAsleep, WaitClock::time_point::max()};
    }
    lastNap_ = std::clamp<WaitClock::duration>(2 * lastNap_, kFirstNap, kLongestNap);
    return {WorkerControl::Watch::kNapping, now + lastNap_};
}

void StreamWorkers::Watch() {
    watch_.store(WorkerControl::Watch::kAwake);
    rest_ = runsUnwaited_;  // as the watcher before this one has left it
    Look look = Look::kUsual;
    while (isWatcher) {
        WaitClock::time_point again;
        bool ran = LookAtAll(look, &again);
        if (!ran && look == Look::kUnwaited) {
            ran = LookAtAll(Look::kUsual, &again);
        }
        look = Look::kUsual;
        if (!isWatcher) {
            return;  // stepped aside: another thread watches now
        }
        if (ran) {
            continue;
        }
        const Pause pause = NextPause();
        watch_.store(pause.watch);
        // The last look before sleeping comes after the store, under the streams' locks: see
        // watch_.
        if (pause.watch == WorkerControl::Watch::kAsleep && LookAtAll(Look::kThorough, &again)) {
            if (!isWatcher) {
                return;
            }
            watch_.store(WorkerControl::Watch::kAwake);
            continue;
        }
        std::unique_lock<std::mutex> lock(mutex_);
        const auto called = [&] { return woken_ || stop_; };
        const WaitClock::time_point until = std::min(pause.until, again);
        if (until != WaitClock::time_point::max()) {
            wake_.wait_until(lock, until, called);
        } else {
            wake_.wait(lock, called);
        }
        watch_.store(WorkerControl::Watch::kAwake);
        look = woken_                                          ? Look::kUnwaited
               : pause.watch == WorkerControl::Watch::kNapping ? Look::kAfterNap
                                                               : Look::kUsual;
        woken_ = false;
        if (stop_) {
            hasWatcher_ = false;
            isWatcher = false;
        }
    }
}

void StreamWorkers::ThreadMain() {
    (void)prctl(PR_SET_TIMERSLACK, kTimerSlackNanoseconds, 0, 0, 0);
    while (BecomeWatcher()) {
        Watch();
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stop_) {
            return;
        }
    }
}

void StreamWorkers::Stop() {
    const NoCancellation noCancellation;
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
    missing_.store(false);
    called_ = false;
    watch_.store(WorkerControl::Watch::kAsleep);
}

}  // namespace advstep
