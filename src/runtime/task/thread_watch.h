// SPDX-License-Identifier: Apache-2.0
// The note of what each thread does inside the library, for the reports of deadlocks and hangs.

#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "src/base/call_stack.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

struct Task;

inline std::atomic<bool> watchingThreads{false};

/// Returns whether threads are watched. If not, the scopes below cost one branch each, which is
/// predicted.
inline bool WatchingThreads() {
    return __builtin_expect(watchingThreads.load(std::memory_order_relaxed), 0);
}

/// One of the things that a thread is doing. A later one is inside of an earlier one.
struct ThreadDoing {
    enum class Kind {
        kWaits,    // a call waits for a place in a stream, and may run tasks meanwhile
        kRuns,     // it runs a task of a stream
        kListens,  // aclrtProcessReport waits for a callback
    };
    Kind kind = Kind::kWaits;
    Ticket place;                // of kWaits and kRuns
    const char* name = nullptr;  // of the task or of what is waited for; static text
    bool ofProgram = false;      // kRuns: a function of the program
    bool timed = false;          // it ends by itself after a while
    bool asleep = false;         // it sleeps, and does nothing until it is woken
    uint64_t id = 0;             // no other one has it
    WaitClock::time_point since;
    CallStack stack;  // of kWaits and kListens
};

struct WatchedThread {
    uint64_t pthread = 0;
    std::vector<ThreadDoing> doing;  // the innermost last
};

/// What the threads do that are inside the library, by their numbers in the system. mutex_ guards
/// everything; it is taken under any lock, and none is taken under it.
class ThreadWatch {
 public:
    void Enter(const ThreadDoing& doing);
    void Leave();
    /// Notes that the thread's innermost doing sleeps, or has been woken.
    void SetAsleep(bool asleep);
    /// Returns whether the thread's innermost doing is a wait for that place.
    bool WaitsFor(const Ticket& place);

    /// Copies the threads. Returns the number of changes so far.
    uint64_t Read(std::map<pid_t, WatchedThread>* threads);
    uint64_t Changes();

    /// Sleeps until a thread is inside the library, or until a Wake.
    void WaitForThread();
    /// Sleeps until that time, or until a Wake.
    void Pause(WaitClock::time_point until);
    void Wake();

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<pid_t, WatchedThread> threads_;
    uint64_t changes_ = 0;
    uint64_t lastId_ = 0;
    bool woken_ = false;
};

ThreadWatch& TheThreadWatch();

/// While it lives, the calling thread does something that is noted, if threads are watched.
class DoingScope {
 public:
    /// A wait for a place. One inside of a wait for the same place is not noted again.
    DoingScope(const Ticket& place, const WaitLimit& limit) {
        if (WatchingThreads()) {
            EnterWait(place, limit);
        }
    }
    /// The run of a task.
    DoingScope(const Ticket& place, const Task& task) {
        if (WatchingThreads()) {
            EnterRun(place, task);
        }
    }
    /// A wait for callbacks.
    explicit DoingScope(const WaitLimit& limit) {
        if (WatchingThreads()) {
            EnterListen(limit);
        }
    }
    ~DoingScope() {
        if (__builtin_expect(entered_, 0)) {
            Leave();
        }
    }
    DoingScope(const DoingScope&) = delete;
    DoingScope& operator=(const DoingScope&) = delete;

 private:
    void EnterWait(const Ticket& place, const WaitLimit& limit) noexcept;
    void EnterRun(const Ticket& place, const Task& task) noexcept;
    void EnterListen(const WaitLimit& limit) noexcept;
    static void Leave() noexcept;

    bool entered_ = false;
};

/// While it lives, the calling thread sleeps in its innermost doing.
class AsleepScope {
 public:
    AsleepScope() : noted_(WatchingThreads()) {
        if (__builtin_expect(noted_, 0)) {
            TheThreadWatch().SetAsleep(true);
        }
    }
    ~AsleepScope() {
        if (__builtin_expect(noted_, 0)) {
            TheThreadWatch().SetAsleep(false);
        }
    }
    AsleepScope(const AsleepScope&) = delete;
    AsleepScope& operator=(const AsleepScope&) = delete;

 private:
    const bool noted_;
};

}  // namespace advstep
