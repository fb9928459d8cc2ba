// SPDX-License-Identifier: Apache-2.0
// A stream: an in-order queue of tasks that any thread may claim and run.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "src/base/status.h"
#include "src/runtime/stream/busy_set.h"
#include "src/runtime/stream/front_wait.h"
#include "src/runtime/stream/run_frame.h"
#include "src/runtime/stream/stream_identity.h"
#include "src/runtime/stream/task_results.h"
#include "src/runtime/stream/worker_control.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"
#include "src/runtime/task/task_queue.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/trace/trace.h"

namespace advstep {

/// An in-order queue of tasks. Any thread may *claim* it, and then runs its tasks one by one.
/// Workers do so in the background. A thread that waits for a stream claims the stream itself, and
/// also the streams whose events it waits for.
///
/// Objects are reused for later streams (HandleTable), so every call compares handles under the
/// lock. mutex_ guards everything, with two exceptions: the counters are read without it, and the
/// front record belongs to the claimant while it runs, because the lock is released then (it is
/// kept for brief kernels). No two streams' locks are held together, with one exception: a replay
/// queues or skips tasks on a model's own stream (model.h) under the lock of the replay's stream,
/// which is taken first.
class Stream : public PartOfTask {
 public:
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
    class WaitInList;

    void Open(const StreamIdentity& identity, WorkerControl* workers, BusySet* busySet = nullptr);

    /// Appends a record that `fill(void*)` constructs, or hands it to the recorder. `caller` is the
    /// handle of the caller's context. 107017: the stream has ended. 107003: it is of another
    /// context. 207005: it holds as many tasks as it may. A stream stopped by a failure returns its
    /// code. Others as Recorder::Record.
    template <typename Fill>
    Status Enqueue(Handle handle, Handle caller, const Work& work, Fill&& fill,
                   Ticket* ticket = nullptr);

    /// Records that are queued together or not at all.
    struct Batch {
        size_t bytes = 0;
        uint64_t count = 0;
        bool heavy = false;          // one of the records is
        bool foreign = false;        // one of the records is
        bool evenIfStopped = false;  // queued even if the stream has stopped on a failure
        bool wakes = true;           // the call wakes the workers; false: its caller does
    };

    /// Appends the records that `fill(void*)` constructs, with their `bytes`. `prepare(first)` is
    /// called before with the first sequence; if it fails, nothing is queued. Both run under the
    /// stream's lock. The records count as one task when the limit of the queue is checked, so all
    /// of them have room or none has. 107027: the stream is captured. 107034: it updates a task
    /// group. Others as Enqueue.
    template <typename Prepare, typename Fill>
    Status EnqueueBatch(Handle handle, Handle caller, const Batch& batch, Prepare&& prepare,
                        Fill&& fill, Ticket* last);

    /// Returns 107017 and 107003 as Enqueue.
    Status Check(Handle handle, Handle caller);

    /// Runs `use(StreamIdentity&)`, which returns a Status, under the lock. Codes as Check.
    template <typename Use>
    Status Inspect(Handle handle, Handle caller, Use&& use) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        return use(identity_);
    }

    /// Waits for the work that is queued now, running it if no other thread does, and returns its
    /// first unreported failure. 107027: the stream is captured. Other codes as WaitFor.
    Status Synchronize(Handle handle, Handle caller, const WaitLimit& limit = kNoLimit);

    Status Query(Handle handle, Handle caller, bool* complete);
    /// Skips work that has not started, and its waits return 107023. *closing: another is in Close.
    Status Drop(Handle handle, Handle caller, bool* closing = nullptr);

    /// Skips work as Drop does, and the waits for that work return `code`: 107023, or 107022 for an
    /// abort of the device. The latter also skips the work that was queued before a capture. The
    /// stream takes new work. A host function of the stream may call this, and so may any thread
    /// while another one is in Close.
    Status Abort(Handle handle, Handle caller, int32_t code);

    /// Ends the front task if it is a wait. Other work stays. 107027: the stream is captured.
    Status StopFront(Handle handle, Handle caller);

    /// Ends the stream: pending work is run, or skipped if `drop`, unreported failures go to the
    /// log, and the handle becomes unknown. 107017, 107003: as Enqueue. 107027: the stream is
    /// captured. 207000: a host function of this stream calls this.
    Status Close(Handle handle, Handle caller, bool drop);

    /// Codes as Close before it waits. *first: no earlier announcement is in force.
    Status AnnounceDestroy(Handle handle, Handle caller, bool* first, StreamIdentity* identity);
    void WithdrawDestroy(Handle handle);

    /// Sets the failure mode of the stream's context. 107000: the stream has set it before.
    Status SetStopOnFailure(Handle handle, Handle caller, bool stop);
    /// Returns the first unreported failure of a task after `sequence` and up to `last`. All
    /// failures between count as reported.
    Status TakeFailureBetween(uint64_t sequence, uint64_t last);
    Status TakeFailure(uint64_t last = kNever) { return TakeFailureBetween(0, last); }

    /// Skips the tasks of a replay in a model's branch that have not started, after `after` and up
    /// to `upTo`. The caller wakes the workers. HoldReplay, which is called before, makes the waits
    /// among these tasks wait for `until` instead.
    void SkipReplay(uint64_t after, uint64_t upTo, TaskSkip why = TaskSkip::kAborted);
    void HoldReplay(uint64_t after, uint64_t upTo, const Ticket& until);
    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence);
    /// Makes the threads that sleep here look again at what they wait for.
    void Nudge();
    /// Returns the place after everything queued so far.
    Ticket Now() { return {this, issued_.load(std::memory_order_acquire)}; }

    /// The latest task queued so far that may use the device's memory (null: any memory).
    Ticket LastUse(const Device* device) {
        const bool all = device == nullptr || device_.load(std::memory_order_acquire) == device;
        return {this, (all ? issued_ : foreign_).load(std::memory_order_acquire)};
    }

    bool Reached(uint64_t sequence) const {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }

    /// Runs some tasks, unless another thread runs the stream. False: nothing could be run. Then
    /// the event that the stream waits for wakes the workers, or *again is lowered to the time of
    /// the next look. `thorough`: looks under the lock even if the counters show no work.
    bool RunSome(bool thorough, WaitClock::time_point* again);

    /// Returns whether something has been queued since the last call, on a stream for whose work
    /// threads wait. This call and the next one are the watcher's.
    bool QueuedForWaiters();
    /// Returns whether waiting threads have run much since the last QueuedForWaiters, so that they
    /// will run the rest as well. A worker that took some of it would only be in their way.
    bool WaitersRunIt() const;
    /// Returns whether the stream's work is left to the workers, as far as one can tell.
    bool NobodyWaits() const { return unwaited_.NobodyWaits(); }

    /// Removes the stream from the set of busy ones if it has neither work nor unreported failures.
    void LeaveBusySetIfIdle();

    /// Returns whether the stream is alive or being closed, and is of this device and context
    /// (null: any). Sets *identity if it is.
    bool BelongsTo(const Device* device, const Context* context, StreamIdentity* identity);

    // stream_recording.cpp: captures and updates of task groups.
    /// Sends later work to the recorder, as branch 0. 207000: a default stream cannot be captured.
    /// 107027: the stream is captured. 107033: it updates a task group.
    Status StartRecording(Handle handle, Handle caller, const std::shared_ptr<Recorder>& recorder);
    /// 107027: the stream is captured.
    Status CheckFree(Handle handle, Handle caller);
    /// Finds the recorder that takes the work, or null, and the branch there.
    Status FindRecorder(Handle handle, Handle caller, std::shared_ptr<Recorder>* recorder,
                        int32_t* branch);
    /// Sends later work to the queue again, if this recorder takes it now.
    void StopRecording(const Recorder* recorder);
    /// Makes later work wait for a place in an active capture. A stream that is not captured joins
    /// that capture. 107024: the stream is in another capture. 107031: a default stream cannot
    /// join. 107003: the contexts differ.
    Status WaitInCapture(Handle handle, Handle caller, const CapturePlace& place,
                         int64_t timeoutNanoseconds);

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    friend Status WaitFor(const Ticket& ticket, const WaitLimit& limit);

    /// Returns the name of the calling thread as a claimant.
    static const void* Self();
    Status CheckUsable(Handle handle, Handle caller) const {
        const bool usable =
            identity_.handle == handle && !closing_ && identity_.context.handle == caller;
        return usable ? Status() : UnusableError(handle, caller);
    }
    Status UnusableError(Handle handle, Handle caller) const;
    /// As CheckUsable, but a stream that is being closed passes.
    Status CheckAlive(Handle handle, Handle caller) const {
        const bool alive = identity_.handle == handle && identity_.context.handle == caller;
        return alive ? Status() : UnusableError(handle, caller);
    }
    Status CheckNotCaptured() const { return recorder_ == nullptr ? Status() : CapturedError(); }
    /// Refuses a captured stream. Returns success if no capture is under way.
    Status CapturedError() const;
    Status CheckNotRecorded() const;
    /// 207005: the stream holds as many tasks as it may. `sequence` is that of the next task.
    Status CheckRoom(uint64_t sequence) {
        return sequence <= roomUpTo_ ? Status() : LookForRoom(sequence);
    }
    Status LookForRoom(uint64_t sequence);
    Status RefuseOwnTask() const;
    Status RefusedError() const;
    void SkipLocked(uint64_t after, uint64_t upTo, TaskSkip why);
    void DropLocked();
    bool RecordingLocked();
    void LeaveBusySetIfIdleLocked();
    bool NeedsWaking(bool heavy) const;
    void NoteQueued(uint64_t first);

    /// Claims the stream, runs it up to `limit` and lets go. The lock is held on entry and exit,
    /// and released while a task runs, except for brief tasks among the first `lockKept`, which are
    /// few because enqueuers have to wait. Returns the obstacle at which it ended early, if any: an
    /// abort of its wait is none.
    FrontObstacle ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit,
                              const AbortableWait* wait = nullptr,
                              const WaitLimit& waitLimit = kNoLimit, int lockKept = 0);
    /// Returns whether the front is a wait that may not be over. The queue is not empty.
    bool FrontWaits() const;
    /// Returns the obstacle of the front, if any. The queue is not empty.
    FrontObstacle LookAtFront(WaitClock::time_point* again);
    bool LeftToOthers(const WaitLimit& limit) const;
    void RunFront(std::unique_lock<std::mutex>& lock, bool keepLock);
    /// Removes the front, which has ended. True: the caller wakes the workers, without the lock.
    bool EndFront(uint64_t sequence);
    /// Runs up to *most brief tasks, none after `last`, and lowers *most by their number. There are
    /// tasks and no claimant. The lock stays taken. True: the caller wakes the workers, without it.
    bool RunBriefTasks(uint64_t last, int* most);
    /// Steps aside if the task may take long. Only the watcher asks a gauged one: a synchronisation
    /// has asked it already, which takes time.
    void StepAsideFor(const Task& task);
    Status RunUnlocked(const Task& task, bool traced, std::unique_lock<std::mutex>& lock);
    void Fail(uint64_t sequence, Status status) noexcept;

    /// Makes the thread that reaches `sequence` wake the workers. True: it has been reached
    /// already.
    bool ReachedOrTellWorkers(uint64_t sequence);
    /// Sleeps until `sequence` is reached, no thread runs the stream, the limit expires, or a Nudge
    /// of any stream raises nudges_ above `nudges`.
    void WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence, uint64_t nudges,
                       const WaitLimit& limit);
    /// Sleeps likewise until the task `front` has ended, even if no thread runs the stream.
    void WaitForProgress(std::unique_lock<std::mutex>& lock, uint64_t front, uint64_t nudges,
                         const WaitLimit& limit);
    void Sleep(std::unique_lock<std::mutex>& lock, uint64_t sequence, const WaitLimit& limit);

    static Status AbortedError(int32_t code);
    /// WaitFor, with a wait that has been entered in the list if aborts end it.
    static Status WaitListed(const Ticket& ticket, const WaitLimit& limit, WaitInList* wait);
    /// Counts the nudges of all streams, because a thread may sleep at one stream because of what
    /// it found at another.
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
    uint64_t queueLimit_ = 0;                     // tasks that it may hold; 0: no limit
    uint64_t roomUpTo_ = 0;           // there is room up to this task, perhaps also beyond it
    const void* claimant_ = nullptr;  // identity of the thread that runs tasks; null: nobody
    bool running_ = false;            // the front runs, or its callback, with the lock released
    bool inBusySet_ = true;           // whether busySet_ has it; true without a set
    BusySet* busySet_ = nullptr;
    UnwaitedBursts unwaited_;
    // The counters at the watcher's last call of QueuedForWaiters.
    std::atomic<uint64_t> issuedBefore_{0};
    std::atomic<uint64_t> completedBefore_{0};
    SkippedTasks skipped_;
    AbortableWaits waits_;
    bool closing_ = false;
    uint64_t tellWorkersAt_ = kNever;  // lowest sequence that another stream's front waits for
    int32_t sleepers_ = 0;
    uint64_t nextSleeper_ = kNever;  // lowest sequence that a sleeper waits for
    FrontWait frontWait_;
    StreamFailures failures_;
    StreamTrace trace_;
    std::shared_ptr<Recorder> recorder_;  // takes the work, unless it is over
    int32_t recorderBranch_ = 0;
    bool modeSet_ = false;
};

}  // namespace advstep

#include "src/runtime/stream/stream_enqueue.h"
