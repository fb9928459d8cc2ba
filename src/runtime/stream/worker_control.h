// SPDX-License-Identifier: Apache-2.0
// The requests that streams make of the background threads, and the count of bursts that decides
// when a stream wakes them.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/runtime/task/task.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The services of the threads that run streams in the background (stream_workers.h).
class WorkerControl {
 public:
    enum class Watch : int {
        kAwake,    // a thread is looking, and looks again before it sleeps, perhaps after a nap
        kResting,  // a thread has just run something, and looks again in a moment
        kNapping,  // a thread looks when its nap is over
        kAsleep,   // no thread looks until one is woken
    };

    virtual ~WorkerControl() = default;

    /// Makes a thread look at all streams soon.
    virtual void Wake() = 0;

    /// Called by a thread that is about to run a task which may take long or block. If the thread
    /// is the watcher, another thread takes over.
    virtual void StepAside() = 0;

    /// Returns whether the calling thread is the watcher.
    virtual bool Watches() const { return false; }

    /// Makes the threads that sleep at any stream look again at what they wait for. Not called with
    /// a stream's lock held.
    virtual void NudgeSleepers() = 0;

    Watch watch() const { return watch_.load(); }

    /// Returns whether a thread that waits has to run the task, although it may take long: no
    /// thread could be started, and the wait has no end at which it would return. With an end, the
    /// thread takes what is seldom long, or nobody would ever run it.
    bool MustRun(const WaitLimit& limit, const Task& task) const {
        const bool seldomLong = !task.heavy() && task.kind != TaskKind::kHostFunction;
        return missing_.load() &&
               (limit.until == WaitClock::time_point::max() || (seldomLong && !limit.Expired()));
    }

 protected:
    // No thread looks at the streams, because none could be started. Wake stores it before it
    // returns, and StepAside before it nudges the sleepers, which may have left work to the thread
    // that steps aside.
    std::atomic<bool> missing_{false};

    // Enqueuers read it under their stream's lock. The watcher stores it before it takes those
    // locks for its last look. So either that look sees the task, or the enqueuer sees kAsleep, or
    // Wake has stored kAwake since: then the watcher looks again before it sleeps.
    std::atomic<Watch> watch_{Watch::kAsleep};
};

/// Counts the bursts of work in a row for which no thread has waited. A burst is the work that is
/// queued from the moment at which the stream was empty. A thread that waits for work also runs it.
/// If no thread has waited for any of the last bursts, none is expected to wait for the next one,
/// so that one is left to the workers. The answer only decides when a worker is woken, never
/// whether.
///
/// The stream's lock guards all changes; the watcher reads without it.
class UnwaitedBursts {
 public:
    /// Notes that work has been queued on an empty stream.
    void BurstBegins() {
        const uint8_t bursts = bursts_.load(std::memory_order_relaxed);
        bursts_.store(bursts == kMost ? kUnwaited - 1 : bursts + 1, std::memory_order_relaxed);
    }
    /// Notes that a thread waits for work that has not ended.
    void Waited() { bursts_.store(0, std::memory_order_relaxed); }

    /// Returns whether no thread is expected to wait for the work that is being queued.
    bool NobodyWaits() const { return bursts_.load(std::memory_order_relaxed) >= kUnwaited; }

 private:
    // The first bursts of a stream are no habit, nor is a single unwaited burst between others that
    // threads wait for.
    static constexpr uint8_t kUnwaited = 3;
    // A woken worker may be so fast that a thread finds nothing left to wait for. So one burst in
    // 254 is left to a thread, to see whether one comes for it.
    static constexpr uint8_t kMost = 255;

    std::atomic<uint8_t> bursts_{0};  // that no thread has waited for
};

}  // namespace advstep
