#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>

#include "src/base/status.h"
#include "src/runtime/stream/front_wait.h"
#include "src/runtime/stream/skipped_tasks.h"
#include "src/runtime/stream/stream_failures.h"
#include "src/runtime/stream/stream_identity.h"
#include "src/runtime/stream/stream_trace.h"
#include "src/runtime/stream/worker_control.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"
#include "src/runtime/task/task_queue.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"
#include "src/runtime/trace/trace.h"

namespace advstep {

/// An in-order queue of tasks. Nobody in particular runs it: any thread may *claim* it, and then
/// runs its tasks one by one. Workers do so in the background; a thread that waits for a stream
/// claims it itself, and the streams whose events it waits for.
///
/// Objects are reused for later streams (HandleTable), so every entry compares handles under the
/// lock. mutex_ guards everything but the counters' readers and the front record, which belongs
/// to the claimant while it runs, with the lock released (brief kernels: kept). No two streams'
/// locks are ever held together, but for a replay, which holds its stream's while it queues on the
/// streams of its own that nobody else queues on (model.h).
class Stream {
 public:
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

    void Open(const StreamIdentity& identity, WorkerControl* workers);

    /// Appends a record that `fill(void*)` constructs, or hands it to the recorder. `caller` is the
    /// handle of the caller's context. Codes: 107017 not this stream any more; 107003 another
    /// context's; the code of a failure that stopped the stream; those of Recorder::Record.
    template <typename Fill>
    Status Enqueue(Handle handle, Handle caller, const Work& work, Fill&& fill,
                   Ticket* ticket = nullptr);

    /// Records that are queued together or not at all.
    struct Batch {
        size_t bytes = 0;
        uint64_t count = 0;
        bool heavy = false;          // one of them is
        bool foreign = false;        // one of them is
        bool evenIfStopped = false;  // on a failure
    };

    /// Appends the records that `fill(void*)` constructs, with their `bytes`. `prepare(first)` is
    /// called before with the sequence of the first; if it fails nothing is queued. Both run under
    /// the stream's lock. Codes as Enqueue; 107027 while the stream is captured, 107034 while it
    /// updates a task group.
    template <typename Prepare, typename Fill>
    Status EnqueueBatch(Handle handle, Handle caller, const Batch& batch, Prepare&& prepare,
                        Fill&& fill, Ticket* last);

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
    /// 107027 while the stream is captured; codes of WaitFor.
    Status Synchronize(Handle handle, Handle caller, const WaitLimit& limit = {});

    Status Query(Handle handle, Handle caller, bool* complete);
    /// Pending work that has not started is not run any more.
    Status Drop(Handle handle, Handle caller);

    /// As Drop; who waits for it is told 107023, and the stream goes on with new work. May be
    /// called from the stream's own host function.
    Status Abort(Handle handle, Handle caller);

    /// No more work; pending work is run (with `drop`: what of it is not dropped), the handle
    /// becomes unknown. 107017, 107003, 107027 while it is captured, and 207000 from a host
    /// function of this stream. A failure that nobody has been told of goes to the log.
    Status Close(Handle handle, Handle caller, bool drop);

    /// Whether Close would begin, and if so *first: this was not asked before, or was withdrawn.
    /// Codes as Close.
    Status AnnounceDestroy(Handle handle, Handle caller, bool* first, StreamIdentity* identity);
    void WithdrawDestroy(Handle handle);

    /// Sets the failure mode of the stream's context, once per stream: 107000 the second time.
    Status SetStopOnFailure(Handle handle, Handle caller, bool stop);

    /// The first unreported failure of a task after `sequence` and up to `last`; those between are
    /// reported with it.
    Status TakeFailureBetween(uint64_t sequence, uint64_t last);
    Status TakeFailure(uint64_t last = kNever) { return TakeFailureBetween(0, last); }

    /// Skips the tasks of a model's branch that have not started: up to `sequence`, or after it.
    void DropUpTo(uint64_t sequence);
    void DropAfter(uint64_t sequence);

    /// The code of the failure for which a task that has ended was skipped; success if it was run.
    Status CheckRan(uint64_t sequence);

    /// Makes the threads that sleep here look again at what they wait for.
    void Nudge();
    /// A place now: everything queued so far.
    Ticket Now() { return {this, issued_.load(std::memory_order_acquire)}; }

    /// The latest task queued so far that may use the device's memory (null: any memory).
    Ticket LastUse(const Device* device) {
        const bool all = device == nullptr || device_.load(std::memory_order_acquire) == device;
        return {this, (all ? issued_ : foreign_).load(std::memory_order_acquire)};
    }

    bool Reached(uint64_t sequence) const {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }

    /// Runs some of what can be run now, unless somebody else does. False if there was nothing;
    /// then whatever it waits for will wake the workers, or it is to be looked at again at *again
    /// (lowered). `thorough`: look under the lock even if the counters say there is nothing.
    bool RunSome(bool thorough, WaitClock::time_point* again);

    /// Identity if the object is alive, or being closed, with this device and context (any: null).
    bool BelongsTo(const Device* device, const Context* context, StreamIdentity* identity);

    // stream_recording.cpp: captures and updates of task groups.
    /// Work goes to the recorder from now on, as its branch 0. 207000 for a default stream; 107027
    /// while it is captured; 107033 while it updates a task group.
    Status StartRecording(Handle handle, Handle caller, const std::shared_ptr<Recorder>& recorder);
    /// 107027 while it is captured.
    Status CheckFree(Handle handle, Handle caller);
    /// The recorder that work goes to, or null, and the branch there.
    Status FindRecorder(Handle handle, Handle caller, std::shared_ptr<Recorder>* recorder,
                        int32_t* branch);
    /// Work goes to the queue again, if it goes to this recorder.
    void StopRecording(const Recorder* recorder);
    /// Makes later work wait for a place in a capture that goes on; a stream that is not captured
    /// joins it. Codes: 107024 another capture; 107031 the default stream; 107003.
    Status WaitInCapture(Handle handle, Handle caller, const CapturePlace& place,
                         int64_t timeoutNanoseconds);

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    friend Status WaitFor(const Ticket& ticket, const WaitLimit& limit);

    /// What names the calling thread as a claimant.
    static const void* Self();

    Status CheckUsable(Handle handle, Handle caller) const {
        const bool usable =
            identity_.handle == handle && !closing_ && identity_.context.handle == caller;
        return usable ? Status() : UnusableError(handle, caller);
    }
    Status UnusableError(Handle handle, Handle caller) const;
    Status CheckNotCaptured() const { return recorder_ == nullptr ? Status() : CapturedError(); }
    /// Success if the recorder does not capture, or no more.
    Status CapturedError() const;
    Status CheckNotRecorded() const;
    Status RefuseOwnTask() const;
    Status RefusedError() const;
    void DropLocked(int32_t code);
    void SkipLocked(uint64_t after, uint64_t upTo, int32_t code);
    bool RecordingLocked();
    bool NeedsWaking(bool heavy) const;
    void TraceOldest(uint64_t queued) {
        if (queued == completed_.load(std::memory_order_relaxed) + 1 && Trace::On()) {
            trace_.BecameOldest();
        }
    }

    /// Claims the stream, runs up to `limit` and lets go. The lock is held on entry and exit, not
    /// while a task runs, but for brief ones among the first `lockKept`: not many, for who enqueues
    /// has to wait. Returns why it ended before.
    FrontObstacle ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit,
                              const WaitLimit& waitLimit = {}, int lockKept = 0);
    /// Whether the front can be run. The queue is not empty.
    FrontObstacle LookAtFront(WaitClock::time_point* again);
    bool LeftToOthers(const WaitLimit& limit) const;
    void RunFront(std::unique_lock<std::mutex>& lock, bool keepLock);
    Status RunUnlocked(const Task& task, bool traced, std::unique_lock<std::mutex>& lock);
    void Fail(uint64_t sequence, Status status) noexcept;

    /// Asks for a wake-up of the workers when `sequence` is reached; true if it has been already.
    bool ReachedOrTellWorkers(uint64_t sequence);

    /// Sleeps until `sequence` is reached, nobody runs the stream, the limit, or a Nudge of any
    /// stream since there were `nudges`.
    void WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence, uint64_t nudges,
                       const WaitLimit& limit);
    /// The same until the task `front` has ended, whether somebody runs the stream or not.
    void WaitForProgress(std::unique_lock<std::mutex>& lock, uint64_t front, uint64_t nudges,
                         const WaitLimit& limit);
    void Sleep(std::unique_lock<std::mutex>& lock, uint64_t sequence, const WaitLimit& limit);

    bool AbortedSince(uint64_t aborts, uint64_t sequence);
    static Status AbortedError();

    /// Of all streams: what a thread found at one stream may have sent it to sleep at another.
    static inline std::atomic<uint64_t> nudges_{0};

    std::mutex mutex_;
    std::condition_variable changed_;
    StreamIdentity identity_;  // handle 0: not alive
    WorkerControl* workers_ = nullptr;
    TaskQueue queue_;
    std::atomic<uint64_t> issued_{0};             // tasks ever queued; goes on through all lives
    std::atomic<uint64_t> completed_{0};          // tasks ever ended; stored with release
    std::atomic<uint64_t> foreign_{0};            // the last task with memory of another device
    std::atomic<const Device*> device_{nullptr};  // of the latest life
    const void* claimant_ = nullptr;  // identity of the thread that runs tasks; null: nobody
    bool running_ = false;            // the front is, with the lock released
    SkippedTasks skipped_;
    std::atomic<uint64_t> aborts_{0};
    uint64_t abortAfter_ = 0;  // tasks after this one were aborted by the last of them
    bool closing_ = false;
    uint64_t tellWorkersAt_ = kNever;  // lowest sequence that another stream's front waits for
    int32_t sleepers_ = 0;
    uint64_t nextSleeper_ = kNever;  // lowest sequence they want

    FrontWait frontWait_;
    StreamFailures failures_;
    StreamTrace trace_;

    std::shared_ptr<Recorder> recorder_;  // takes the work, unless it is over
    int32_t recorderBranch_ = 0;

    bool modeSet_ = false;
};

}  // namespace advstep

#include "src/runtime/stream/stream_enqueue.h"
