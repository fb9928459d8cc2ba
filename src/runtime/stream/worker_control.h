#pragma once

#include <atomic>

namespace advstep {

/// What streams ask of the threads that run them in the background (stream_workers.h).
class WorkerControl {
 public:
    enum class Watch : int {
        kAsleep,   // nobody looks until woken
        kNapping,  // somebody looks within kNap
        kAwake,    // somebody is looking, and looks again before it naps or sleeps
    };

    virtual ~WorkerControl() = default;

    /// Makes somebody look at all streams soon.
    virtual void Wake() = 0;

    /// Called by a thread about to run something that may take long or block: if it is the one that
    /// watches, another takes over.
    virtual void StepAside() = 0;

    /// Makes the threads that sleep at any stream look again at what they wait for. Not with a
    /// stream's lock held.
    virtual void NudgeSleepers() = 0;

    Watch watch() const { return watch_.load(); }

 protected:
    // Read by enqueuers under their stream's lock, stored by the watcher before it takes those
    // locks for its last look: either that look sees the task or the enqueuer sees kAsleep.
    std::atomic<Watch> watch_{Watch::kAsleep};
};

}  // namespace advstep
