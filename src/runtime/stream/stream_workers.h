// SPDX-License-Identifier: Apache-2.0
// The threads that run streams in the background: one watcher and its followers.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/worker_control.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The threads that run streams in the background, for all devices: leader and followers.
///
/// At most one thread is the *watcher*: it looks at all streams and runs the tasks that it finds.
/// It naps between looks while threads queue work that they wait for, and otherwise sleeps until an
/// enqueue wakes it, so an idle process uses no CPU. The watcher steps aside before it runs a task
/// that may take long (a host function, a large kernel), and another thread takes over, so streams
/// never wait for each other. A thread that is not needed is a spare and sleeps. The number of
/// threads is one more than the greatest number of tasks that were ever blocked at a time.
///
/// mutex_ guards all members except watch_ and the watcher's own. It is never held while a stream's
/// lock is taken.
class StreamWorkers : public WorkerControl {
 public:
    explicit StreamWorkers(const HandleTable<Stream>& streams,
                           const HandleTable<Stream>* more = nullptr)
        : streams_(streams), more_(more) {}
    ~StreamWorkers() override;

    void Wake() override;
    void StepAside() override;
    bool Watches() const override;
    void NudgeSleepers() override;

    /// Ends all threads. There is no pending work, and the caller is none of the threads. The next
    /// Wake while there is a stream starts new threads.
    void Stop();

 private:
    void ThreadMain();
    bool BecomeWatcher();
    void Watch();
    /// The state of a watcher that has found nothing to run, and the time at which it ends.
    struct Pause {
        WorkerControl::Watch watch;
        WaitClock::time_point until;
    };
    Pause NextPause();
    bool QueuedForWaiters() const;
    enum class Look {
        kAfterNap,  // leaves streams alone that waiting threads run
        kUnwaited,  // after a call: looks only at the streams whose work no thread waits for
        kUsual,
        kThorough,  // under the streams' locks
    };
    bool LookAtAll(Look look, WaitClock::time_point* again);
    void EnsureWatcherLocked();
    bool NoStream() const { return streams_.Empty() && (more_ == nullptr || more_->Empty()); }

    template <typename Visit>
    void ForEachStream(Visit&& visit) const {
        streams_.ForEach(visit);
        if (more_ != nullptr) {
            more_->ForEach(visit);
        }
    }

    const HandleTable<Stream>& streams_;
    const HandleTable<Stream>* const more_;
    std::mutex mutex_;
    std::condition_variable wake_;   // the watcher naps or sleeps here
    std::condition_variable spare_;  // spares sleep here
    std::vector<std::thread> threads_;
    // The watcher's own, which the next watcher takes over under mutex_:
    WaitClock::time_point lastQueued_{};  // when work was queued that threads wait for
    WaitClock::duration lastNap_{};       // none since the last work was found: zero
    bool rest_ = false;                   // it has run work for which no thread waits
    bool runsUnwaited_ = false;           // no thread waits for the stream that it looks at
    int32_t spares_ = 0;
    bool hasWatcher_ = false;  // a thread is the watcher, or one has been called
    bool called_ = false;      // a spare or a new thread is to become the watcher
    bool woken_ = false;
    bool stop_ = false;
};

}  // namespace advstep
