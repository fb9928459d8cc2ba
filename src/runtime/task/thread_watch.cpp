// SPDX-License-Identifier: Apache-2.0
// Notes what threads do inside the library.

#include "src/runtime/task/thread_watch.h"

#include <unistd.h>

#include <exception>

#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/sanitizer_scope.h"
#include "src/runtime/task/task.h"

namespace advstep {
namespace {

// The child of a fork is not watched until its runtime starts.
const ForkHook watchNobody([](void*) noexcept { watchingThreads.store(false); });

bool EnterDoing(const ThreadDoing& doing) noexcept {
    const NoCancellation noCancellation;
    const SanitizerScope own;
    try {
        TheThreadWatch().Enter(doing);
        return true;
    } catch (const std::exception&) {
        return false;  // without memory, the thread counts as one outside the library
    }
}

}  // namespace

ThreadWatch& TheThreadWatch() {
    static NeverDestroyed<ThreadWatch> watch;
    return *watch;
}

void ThreadWatch::Enter(const ThreadDoing& doing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.empty()) {
        changed_.notify_all();
    }
    WatchedThread& thread = threads_[gettid()];
    thread.pthread = static_cast<uint64_t>(pthread_self());
    thread.doing.push_back(doing);
    thread.doing.back().id = ++lastId_;
    thread.doing.back().since = WaitClock::now();
    ++changes_;
}

void ThreadWatch::Leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = threads_.find(gettid());
    if (found == threads_.end()) {
        return;  // it has entered in the parent of a fork
    }
    found->second.doing.pop_back();
    if (found->second.doing.empty()) {
        threads_.erase(found);
    }
    ++changes_;
}

void ThreadWatch::SetAsleep(bool asleep) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = threads_.find(gettid());
    if (found != threads_.end()) {
        found->second.doing.back().asleep = asleep;
        ++changes_;
    }
}

bool ThreadWatch::WaitsFor(const Ticket& place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = threads_.find(gettid());
    if (found == threads_.end()) {
        return false;
    }
    const ThreadDoing& doing = found->second.doing.back();
    return doing.kind == ThreadDoing::Kind::kWaits && doing.place.stream == place.stream &&
           doing.place.sequence == place.sequence;
}

uint64_t ThreadWatch::Read(std::map<pid_t, WatchedThread>* threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *threads = threads_;
    return changes_;
}

uint64_t ThreadWatch::Changes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return changes_;
}

void ThreadWatch::WaitForThread() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return woken_ || !threads_.empty(); });
    woken_ = false;
}

void ThreadWatch::Pause(WaitClock::time_point until) {
    std::unique_lock<std::mutex> lock(mutex_);
    (void)changed_.wait_until(lock, until, [this] { return woken_; });
    woken_ = false;
}

void ThreadWatch::Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    changed_.notify_all();
}

void DoingScope::EnterWait(const Ticket& place, const WaitLimit& limit) noexcept {
    if (TheThreadWatch().WaitsFor(place)) {
        return;
    }
    ThreadDoing doing;
    doing.kind = ThreadDoing::Kind::kWaits;
    doing.place = place;
    doing.name = limit.what;
    doing.timed = limit.until != WaitClock::time_point::max();
    doing.stack = CallStack::Here();
    entered_ = EnterDoing(doing);
}

void DoingScope::EnterRun(const Ticket& place, const Task& task) noexcept {
    ThreadDoing doing;
    doing.kind = ThreadDoing::Kind::kRuns;
    doing.place = place;
    doing.name = task.name;
    doing.ofProgram = task.kind == TaskKind::kHostFunction;
    entered_ = EnterDoing(doing);
}

void DoingScope::EnterListen(const WaitLimit& limit) noexcept {
    ThreadDoing doing;
    doing.kind = ThreadDoing::Kind::kListens;
    doing.timed = limit.until != WaitClock::time_point::max();
    doing.stack = CallStack::Here();
    entered_ = EnterDoing(doing);
}

void DoingScope::Leave() noexcept { TheThreadWatch().Leave(); }

}  // namespace advstep
