#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/context.h"
#include "src/runtime/handle_table.h"
#include "src/runtime/stream_attributes.h"
#include "src/runtime/task.h"
#include "src/runtime/task_queue.h"
#include "src/runtime/worker_control.h"

namespace advstep {

/// What a stream is told about itself when it is created.
struct StreamIdentity {
    Handle handle = 0;
    ContextRef context;
    int32_t id = 0;
    uint32_t priority = 0;
    uint32_t flags = 0;
    StreamAttributes attributes;
};

/// An in-order queue of tasks. Nobody in particular runs it: any thread may *claim* it, and then
/// runs its tasks one by one. Workers do so in the background; a thread that waits for a stream
/// claims it itself, and the streams whose events it waits for.
///
/// Objects are reused for later streams (HandleTable), so every entry compares handles under the
/// lock. mutex_ guards everything but the two counters' readers and the front record, which belongs
/// to the claimant while it runs, with the lock released. No two streams' locks are ever held
/// together.
class Stream {
 public:
    void Open(const StreamIdentity& identity, WorkerControl* workers);

    /// Appends a record of `bytes` that `fill(void*)` constructs. `caller` is the handle of the
    /// caller's context. Codes: 107017 not this stream any more; 107003 another context's; the code
    /// of a failure that stopped the stream.
    template <typename Fill>
    Status Enqueue(Handle handle, Handle caller, size_t bytes, Fill&& fill,
                   Ticket* ticket = nullptr) {
        bool wake = false;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
            if (!refusal_.ok()) {
                return Status(refusal_.code(), refusal_.message());
            }
            bytes = (bytes + kTaskAlignment - 1) / kTaskAlignment * kTaskAlignment;
            Task* const task = fill(queue_.Push(bytes));
            task->bytes = static_cast<uint32_t>(bytes);
            const uint64_t sequence = issued_.load(std::memory_order_relaxed) + 1;
            issued_.store(sequence, std::memory_order_relaxed);
            if (ticket != nullptr) {
                *ticket = {this, sequence};
            }
            const WorkerControl::Watch watch = workers_->watch();
            wake = watch == WorkerControl::Watch::kAsleep ||
                   (task->heavy && watch == WorkerControl::Watch::kNapping);
        }
        if (wake) {
            workers_->Wake();
        }
        return {};
    }

    /// Codes as Enqueue, without the stopped case.
    Status Check(Handle handle, Handle caller);

    /// Runs `use(StreamIdentity&)`, which returns a Status, under the lock. Codes as Check.
    template <typename Use>
    Status Inspect(Handle handle, Handle caller, Use&& use) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        return use(identity_);
    }

    /// Waits for what is queued now, running it; then takes the unreported failure, if any.
    Status Synchronize(Handle handle, Handle caller);

    Status Query(Handle handle, Handle caller, bool* complete);

    /// Pending work that has not started is not run any more.
    Status Drop(Handle handle, Handle caller);

    /// No more work; pending work is run (with `drop`: what of it is not dropped), the handle
    /// becomes unknown. Nothing but 107017 and 107003 can come back, and 207000 from a host
    /// function of this stream. A failure that nobody has been told of goes to the log.
    Status Close(Handle handle, Handle caller, bool drop);

    /// Whether Close would begin, and if so *first: this was not asked before, or was withdrawn.
    /// Codes as Close.
    Status AnnounceDestroy(Handle handle, Handle caller, bool* first, StreamIdentity* identity);
    void WithdrawDestroy(Handle handle);

    /// Sets the failure mode of the stream's context, once per stream: 107000 the second time.
    Status SetStopOnFailure(Handle handle, Handle caller, bool stop);

    /// The first failure of a task up to `sequence` that nobody was told of; with this the failures
    /// up to there are told.
    Status TakeFailure(uint64_t sequence = std::numeric_limits<uint64_t>::max());

    /// The code of the failure for which a task that has ended was skipped; success if it was run.
    Status CheckRan(uint64_t sequence);

    /// Makes the threads that sleep here look again at what they wait for.
    void Nudge();

    /// A place now: everything queued so far.
    Ticket Now() { return {this, issued_.load(std::memory_order_acquire)}; }

    bool Reached(uint64_t sequence) const {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }

    /// Runs some of what can be run now, unless somebody else does. False if there was nothing;
    /// then whatever it waits for will wake the workers. `thorough`: look under the lock even if
    /// the counters say there is nothing.
    bool RunSome(bool thorough);

    /// Identity if the object is alive, or being closed, with this device and context (any: null).
    bool BelongsTo(const Device* device, const Context* context, StreamIdentity* identity);

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    friend Status WaitFor(const Ticket& ticket);

    /// What names the calling thread as a claimant.
    static const void* Self();

    Status CheckUsable(Handle handle, Handle caller) const;
    Status RefuseOwnTask() const;
    void DropLocked();
    bool Skips(uint64_t sequence) const { return sequence > skipAfter_ && sequence <= skipUpTo_; }

    /// Claims the stream, runs up to `limit` and lets go. The lock is held on entry and exit, not
    /// while a task runs. Returns the ticket that the front waits for, if that is why it ended.
    Ticket ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit);
    /// What the front has to wait for; no stream: nothing. The queue is not empty.
    Ticket BlockedBy() const;
    void RunFront(std::unique_lock<std::mutex>& lock);
    void Fail(uint64_t sequence, Status status) noexcept;

    /// Asks for a wake-up of the workers when `sequence` is reached; true if it has been already.
    bool ReachedOrTellWorkers(uint64_t sequence);

    /// Sleeps until `sequence` is reached, nobody runs the stream, or a Nudge.
    void WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence);

    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

    std::mutex mutex_;
    std::condition_variable changed_;
    StreamIdentity identity_;  // handle 0: not alive
    WorkerControl* workers_ = nullptr;
    TaskQueue queue_;
    std::atomic<uint64_t> issued_{0};     // tasks ever queued; goes on through all lives
    std::atomic<uint64_t> completed_{0};  // tasks ever ended; stored with release
    const void* claimant_ = nullptr;      // identity of the thread that runs tasks; null: nobody
    uint64_t skipAfter_ = 0;              // tasks after this one and
    uint64_t skipUpTo_ = 0;               // up to this one are not run any more
    int32_t skipCode_ = 0;                // why: of the failure, or 107017 when destroyed
    uint64_t nudges_ = 0;
    bool closing_ = false;
    uint64_t tellWorkersAt_ = kNever;  // lowest sequence that another stream's front waits for
    int32_t sleepers_ = 0;             // threads in WaitForRunner
    uint64_t nextSleeper_ = kNever;    // lowest sequence they want

    bool modeSet_ = false;
    struct Failure {
        uint64_t sequence;
        Status status;
    };
    static constexpr size_t kMostFailures = 16;  // of later ones the last is kept
    std::vector<Failure> failures_;              // not reported, in order; never reallocated
    Status refusal_;                             // mode 1: why new work is refused
};

/// Runs and waits until the ticket's point is reached. 207000 if that needs a task which the
/// calling thread itself is in the middle of (a host function that waits for its own stream).
Status WaitFor(const Ticket& ticket);

/// True while the thread runs a task (of any stream).
bool InsideTask();

}  // namespace advstep
