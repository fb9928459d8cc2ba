// SPDX-License-Identifier: Apache-2.0
// A stream: an in-order queue of tasks that any thread may claim and run. stream.cpp has its life,
// its queue and its captures; stream_run.cpp has the threads that run it or wait for it.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/status.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/device_resources.h"
#include "src/runtime/sanitizer/sanitizing_work.h"
#include "src/runtime/stream/busy_set.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_view.h"
#include "src/runtime/stream/task_results.h"
#include "src/runtime/stream/work_notes.h"
#include "src/runtime/stream/worker_control.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"
#include "src/runtime/task/task_queue.h"
#include "src/runtime/task/thread_watch.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/trace/trace.h"

namespace advstep {

inline constexpr uint32_t kLeastStreamPriority = 7;  // 0 is the greatest

/// The settings of a stream that can be changed after its creation. They end with the stream. The
/// stream's lock guards them.
struct StreamAttributes {
    uint32_t overflowCheck = 0;
    uint32_t userTag = 0;
    uint32_t cacheOpInfo = 0;
    CoreLimits limits;
    bool destroyAnnounced = false;  // to the callbacks of stream_callbacks.h
};

/// The facts about a stream that are set when it is created.
struct StreamIdentity {
    Handle handle = 0;
    ContextRef context;
    int32_t id = 0;
    uint32_t priority = 0;
    uint32_t flags = 0;
    bool hidden = false;  // a stream of a model, which no caller knows
    StreamAttributes attributes;
};

/// While it lives, the calling thread runs a task of the stream. A task that waits may run tasks of
/// other streams in its thread: their frames are within its own.
class RunFrame {
 public:
    explicit RunFrame(Stream* stream) noexcept
        : stream_(stream),
          outer_(innermost),
          depth_(innermost != nullptr ? innermost->depth() + 1 : 1) {
        innermost = this;
    }
    ~RunFrame() { innermost = outer_; }
    RunFrame(const RunFrame&) = delete;
    RunFrame& operator=(const RunFrame&) = delete;

    Stream* stream() const { return stream_; }
    const RunFrame* outer() const { return outer_; }
    /// Returns the number of frames, this one included.
    int depth() const { return depth_; }

    /// Null: the thread runs no task.
    [[gnu::tls_model("initial-exec")]] static inline thread_local const RunFrame* innermost =
        nullptr;

 private:
    Stream* const stream_;
    const RunFrame* const outer_;
    const int depth_;
};

/// The reason why a stream's front task is not run.
struct FrontObstacle {
    enum class Kind {
        kNone,
        kTicket,  // it waits for another stream
        kPoll,    // it waits for a condition
        kLeft,    // it is left to a thread that may take longer
    };
    Kind kind = Kind::kNone;
    Ticket ticket;        // of kTicket; of kPoll if there is a place without which it does not end
    uint64_t thread = 0;  // pthread_self() of the thread that has to act; 0: any
    uint64_t front = 0;   // the sequence of the front
};

/// The state of a stream's front task while that is a wait: whether the wait is over, and its
/// deadline. Plain data that the stream's lock guards. Every answer concerns one sequence.
class FrontWait {
 public:
    /// Returns whether the wait has been found to be over.
    bool Over(uint64_t sequence) const { return over_ == sequence; }
    /// Returns whether the wait ended by its timeout.
    bool Expired(uint64_t sequence) const { return over_ == sequence && expired_; }

    /// Checks a wait that is not known to be over. If it is not over, returns its obstacle, and
    /// lowers *again to the time of the next check if a time is known.
    FrontObstacle Look(WaitTask* wait, uint64_t sequence, WaitClock::time_point* again);

 private:
    uint64_t over_ = 0;
    bool expired_ = false;
    uint64_t timed_ = 0;  // the sequence of the wait that deadline_ is for
    WaitClock::time_point deadline_;
};

struct QueuedWork;

/// The captured work of a batch of records, for the sanitizer.
struct BatchWorks {
    const void* model = nullptr;  // whose replay the batch begins and ends; null: it does not
    uint64_t first = 0;           // the record of the first work
    const std::vector<std::shared_ptr<const QueuedWork>>* works = nullptr;  // null: not known
};

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
///
/// `handle` is the stream's, and `caller` is the handle of the caller's context. A call with these
/// two returns 107017 if the stream has ended, and 107003 if it is of another context.
class Stream {
 public:
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
    class WaitInList;

    // Its life.

    void Open(const StreamIdentity& identity, WorkerControl* workers, BusySet* busySet = nullptr);
    /// Gives the stream what it takes of its device until it ends.
    void Keep(ResourceHold hold) {
        const std::lock_guard<std::mutex> lock(mutex_);
        hold_ = std::move(hold);
    }

    /// Ends the stream: pending work is run, or skipped if `drop`, unreported failures go to the
    /// log, and the handle becomes unknown. 107027: the stream is captured. 207000: a host function
    /// of this stream calls this.
    Status Close(Handle handle, Handle caller, bool drop);

    /// Codes as Close before it waits. *first: no earlier announcement is in force.
    Status AnnounceDestroy(Handle handle, Handle caller, bool* first, StreamIdentity* identity);
    void WithdrawDestroy(Handle handle);

    Status Check(Handle handle, Handle caller);

    /// Runs `use(StreamIdentity&)`, which returns a Status, under the lock. Codes as Check.
    template <typename Use>
    Status Inspect(Handle handle, Handle caller, Use&& use) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        return use(identity_);
    }

    /// Returns whether the stream is alive or being closed, and is of this device and context
    /// (null: any). Sets *identity if it is.
    bool BelongsTo(const Device* device, const Context* context, StreamIdentity* identity);

    // The queueing of work.

    /// Appends a record that `fill(void*)` constructs, or hands it to the recorder. 207005: the
    /// stream holds as many tasks as it may. A stream stopped by a failure returns its code. The
    /// code of the work's check, if memory has left and the check fails now. Others as
    /// Recorder::Record.
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
        MemoryCheck memory;          // of what the records use
        BatchWorks works = {};
    };

    /// Appends the records that `fill(void*)` constructs, with their `bytes`. `prepare(first)` is
    /// called before with the first sequence; if it fails, nothing is queued. Both run under the
    /// stream's lock. The records count as one task when the limit of the queue is checked, so all
    /// of them have room or none has. 107027: the stream is captured. 107034: it updates a task
    /// group. kCheckIsOld: memory has left since their check, which the caller makes again. Others
    /// as Enqueue.
    template <typename Prepare, typename Fill>
    Status EnqueueBatch(Handle handle, Handle caller, const Batch& batch, Prepare&& prepare,
                        Fill&& fill, Ticket* last);

    /// Returns the place of the oldest task. One of the threads that run the stream asks.
    Ticket Front() { return {this, completed_.load(std::memory_order_relaxed) + 1}; }

    /// Returns the place after everything queued so far.
    Ticket Now() { return {this, issued_.load(std::memory_order_acquire)}; }

    /// The latest task queued so far that may use the device's memory (null: any memory). Work that
    /// is being queued, and whose check of memory came first, counts: its thread has the lock.
    Ticket LastUse(const Device* device) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const bool all = device == nullptr || device_.load(std::memory_order_relaxed) == device;
        return {this, (all ? issued_ : foreign_).load(std::memory_order_relaxed)};
    }

    bool Reached(uint64_t sequence) const {
        return completed_.load(std::memory_order_acquire) >= sequence;
    }

    /// Tells the memory that the unfinished tasks up to that sequence may touch. It looks at every
    /// one of them, so it is for a call that can do without only when memory lacks.
    void ListMemory(uint64_t upTo, TouchedMemory* touched);

    // The skipping of work.

    /// Skips work that has not started, and its waits return 107023. *closing: another is in Close.
    Status Drop(Handle handle, Handle caller, bool* closing = nullptr);

    /// Skips work as Drop does, and the waits for that work return `code`: 107023, or 107022 for an
    /// abort of the device. The latter also skips the work that was queued before a capture. The
    /// stream takes new work. A host function of the stream may call this, and so may any thread
    /// while another one is in Close.
    Status Abort(Handle handle, Handle caller, int32_t code);

    /// Ends the front task if it is a wait. Other work stays. 107027: the stream is captured.
    Status StopFront(Handle handle, Handle caller);

    /// Skips the tasks of a replay in a model's branch that have not started, after `after` and up
    /// to `upTo`. The caller wakes the workers. RedirectReplayWaits, which is called before, makes
    /// the waits among these tasks wait for `until` instead.
    void SkipReplay(uint64_t after, uint64_t upTo, TaskSkip why = TaskSkip::kAborted);
    void RedirectReplayWaits(uint64_t after, uint64_t upTo, const Ticket& until);
    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence);

    // Failures.

    /// Sets the failure mode of the stream's context. 107000: the stream has set it before.
    Status SetStopOnFailure(Handle handle, Handle caller, bool stop);
    /// Returns the first unreported failure of a task after `sequence` and up to `last`. All
    /// failures between count as reported.
    Status TakeFailureBetween(uint64_t sequence, uint64_t last);
    Status TakeFailure(uint64_t last = kNever) { return TakeFailureBetween(0, last); }
    /// Tells the sanitizer of a failure that no call has asked for so far.
    void ReportUnasked();

    // Captures and updates of task groups.

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

    // The stream among other streams.

    /// Makes work that is queued from now on part of a task of `parent`. That task ends after the
    /// work. A sub-graph of a conditional task runs on such streams.
    void SetParent(Stream* parent) { parent_.store(parent, std::memory_order_relaxed); }

    /// Returns the number of streams of which this one's work is a part, one in a task of the next.
    int Depth() const;

    /// Removes the stream from the set of busy ones if it has neither work nor unreported failures.
    void LeaveBusySetIfIdle();

    /// Tells the state of unfinished work. False: there is none.
    bool View(StreamView* view);

    // The threads that wait for it.

    /// Waits for the work that is queued now, running it if no other thread does, and returns its
    /// first unreported failure. 107027: the stream is captured. Other codes as WaitFor.
    Status Synchronize(Handle handle, Handle caller, const WaitLimit& limit = kNoLimit);

    Status Query(Handle handle, Handle caller, bool* complete);

    /// Makes the threads that sleep here look again at what they wait for.
    void Nudge();

    // The workers.

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

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    friend Status WaitFor(const Ticket& ticket, const WaitLimit& limit);
    friend bool InsideTaskBefore(const std::vector<Ticket>& places);

    // stream.cpp: checks and the queue.

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
    bool RecordingLocked();
    /// 207005: the stream holds as many tasks as it may. `sequence` is that of the next task.
    Status CheckRoom(uint64_t sequence) {
        return sequence <= roomUpTo_ ? Status() : LookForRoom(sequence);
    }
    Status LookForRoom(uint64_t sequence);
    /// Refuses to end the stream inside one of its tasks.
    Status RefuseOwnTask() const;
    Status RefusedError() const;
    void EnterBusySetLocked();
    bool IsOldLocked(const MemoryCheck& check, uint64_t checkedAt);
    /// Tell the sanitizer of queued work, or that the host has seen the end of work, if it has.
    void TellQueued(uint64_t sequence, const Task& task, const Work& work) noexcept;
    void TellBatch(uint64_t first, const void* records, const Batch& batch) noexcept;
    void TellSeen(uint64_t sequence) noexcept {
        if (SanitizingWork() && Reached(sequence)) {
            TellSeenNow(sequence);
        }
    }
    void TellSeenNow(uint64_t sequence) noexcept;
    void NoteQueued(uint64_t first);
    void ViewFront(StreamView* view);
    bool CopyCaller(CallStack* queuedBy) const;
    bool NeedsWaking(bool heavy) const;
    void SkipLocked(uint64_t after, uint64_t upTo, TaskSkip why);
    void DropLocked();
    void Fail(uint64_t sequence, Status status) noexcept;
    void ReportUnaskedLocked();
    void LeaveBusySetIfIdleLocked();

    // stream_run.cpp: threads that run the stream or wait for it.

    /// Returns the name of the calling thread as a claimant.
    static const void* Self();
    /// Returns whether the calling thread runs a task of this stream, or a part of such a task in
    /// another stream.
    bool IsRunByThisThread() const;

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
    bool LeavesFrontToWorkers(const WaitLimit& limit) const;
    void RunFront(std::unique_lock<std::mutex>& lock, bool keepLock);
    Status Run(const Task& task, bool traced, bool keepLock, std::unique_lock<std::mutex>& lock);
    Status RunLocked(const Task& task);
    /// kWatched: threads are watched or the sanitizer looks on. Other tasks are spared the asking.
    template <bool kWatched>
    Status RunUnlocked(const Task& task, bool traced, std::unique_lock<std::mutex>& lock);
    Status RunTold(const Task& task, const ContextRef& context);
    /// Steps aside if the task may take long. Only the watcher asks one whose data decide: a
    /// synchronisation has asked it already, which takes time.
    void StepAsideFor(const Task& task);
    /// Removes the front, which has ended. True: the caller wakes the workers, without the lock.
    bool EndFront(uint64_t sequence);
    /// Runs up to *most brief tasks, none after `last`, and lowers *most by their number. There are
    /// tasks and no claimant. The lock stays taken. True: the caller wakes the workers, without it.
    bool RunBriefTasks(uint64_t last, int* most);
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
    static Status WaitListed(const Ticket& ticket, const WaitLimit& given, WaitInList* wait);

    /// Counts the nudges of all streams, because a thread may sleep at one stream because of what
    /// it found at another.
    static inline std::atomic<uint64_t> nudges_{0};

    std::atomic<Stream*> parent_{nullptr};  // the stream of which this one's work is a part
    std::mutex mutex_;
    std::condition_variable changed_;
    StreamIdentity identity_;  // handle 0: not alive
    ResourceHold hold_;
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
    WorkNotes notes_;
    bool failureNoted_ = false;  // failedBy_ queued the first task of failures_
    CallStack failedBy_;
    std::shared_ptr<Recorder> recorder_;  // takes the work, unless it is over
    int32_t recorderBranch_ = 0;
    bool modeSet_ = false;
};

inline void Stream::EnterBusySetLocked() {
    if (!inBusySet_) {
        inBusySet_ = true;
        busySet_->Add(tableIndex);
    }
}

// The stream enters the set first. So a thread that takes memory away either finds it there, and
// waits for the lock, or has let the epoch grow before this look at it (MemoryCheck).
inline bool Stream::IsOldLocked(const MemoryCheck& check, uint64_t checkedAt) {
    if (check.epoch == nullptr) {
        return false;
    }
    EnterBusySetLocked();
    return check.IsOld(checkedAt);
}

inline void Stream::NoteQueued(uint64_t first) {
    EnterBusySetLocked();
    if (first == completed_.load(std::memory_order_relaxed) + 1) {
        unwaited_.BurstBegins();
        if (Trace::On()) {
            trace_.BecameOldest();
        }
    }
    if (WatchingThreads()) {
        notes_.Add(first, issued_.load(std::memory_order_relaxed),
                   completed_.load(std::memory_order_relaxed));
    }
}

template <typename Fill>
Status Stream::Enqueue(Handle handle, Handle caller, const Work& work, Fill&& fill,
                       Ticket* ticket) {
    bool wake = false;
    for (uint64_t checkedAt = work.memory.at;;) {
        std::unique_lock<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        if (recorder_ != nullptr && RecordingLocked()) {
            using Callable = std::remove_reference_t<Fill>;
            const RecordFill make{[](void* callable, void* memory) -> Task* {
                                      return (*static_cast<Callable*>(callable))(memory);
                                  },
                                  const_cast<void*>(static_cast<const void*>(&fill))};
            bool over = false;  // the capture has ended meanwhile, so the work is queued
            Status recorded = recorder_->Record(recorderBranch_, work, make, &over);
            if (!over) {
                return recorded;
            }
        }
        if (!failures_.refusal().ok()) {
            return RefusedError();
        }
        const uint64_t sequence = issued_.load(std::memory_order_relaxed) + 1;
        ADVSTEP_RETURN_IF_ERROR(CheckRoom(sequence));
        if (IsOldLocked(work.memory, checkedAt)) {
            lock.unlock();
            ADVSTEP_RETURN_IF_ERROR(work.memory.MakeAgain(&checkedAt));
            continue;
        }
        const size_t bytes = AlignedTaskBytes(work.bytes);
        Task* const task = fill(queue_.Push(bytes));
        task->bytes = static_cast<uint32_t>(bytes);
        if (SanitizingWork()) {
            TellQueued(sequence, *task, work);
        }
        issued_.store(sequence, std::memory_order_relaxed);
        if (work.foreign) {
            foreign_.store(sequence, std::memory_order_relaxed);
        }
        NoteQueued(sequence);
        if (ticket != nullptr) {
            *ticket = {this, sequence};
        }
        wake = NeedsWaking(task->heavy());
        break;
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

template <typename Prepare, typename Fill>
Status Stream::EnqueueBatch(Handle handle, Handle caller, const Batch& batch, Prepare&& prepare,
                            Fill&& fill, Ticket* last) {
    bool wake = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotRecorded());
        if (!failures_.refusal().ok() && !batch.evenIfStopped) {
            return RefusedError();
        }
        const uint64_t issued = issued_.load(std::memory_order_relaxed);
        ADVSTEP_RETURN_IF_ERROR(CheckRoom(issued + 1));
        queue_.Reserve(batch.bytes);
        if (IsOldLocked(batch.memory, batch.memory.at)) {
            return Status(kCheckIsOld);
        }
        ADVSTEP_RETURN_IF_ERROR(prepare(issued + 1));
        if (batch.count > 0) {
            void* const records = queue_.Push(batch.bytes);
            fill(records);
            if (SanitizingWork()) {
                TellBatch(issued + 1, records, batch);
            }
            issued_.store(issued + batch.count, std::memory_order_relaxed);
            if (batch.foreign) {
                foreign_.store(issued + batch.count, std::memory_order_relaxed);
            }
            NoteQueued(issued + 1);
        }
        *last = {this, issued + batch.count};
        wake = batch.wakes && NeedsWaking(batch.heavy);
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

/// A wait of the calling thread, in the list of its stream from its entry until it leaves or ends.
class Stream::WaitInList {
 public:
    explicit WaitInList(Stream* stream) : stream_(*stream) {}
    /// A wait that reports the first failure of a task after `failuresAfter` and up to its place.
    WaitInList(Stream* stream, uint64_t failuresAfter) : stream_(*stream) {
        wait_.takesFailures = true;
        wait_.failuresAfter = failuresAfter;
    }
    ~WaitInList() {
        if (wait_.listed) {
            const std::lock_guard<std::mutex> lock(stream_.mutex_);
            stream_.waits_.Remove(&wait_);
        }
        if (!wait_.failure.ok()) {
            LogFailure();
        }
    }
    WaitInList(const WaitInList&) = delete;
    WaitInList& operator=(const WaitInList&) = delete;

    void EnterLocked() {
        if (!wait_.listed) {
            stream_.waits_.Add(&wait_);
        }
    }
    void LeaveLocked() {
        if (wait_.listed) {
            stream_.waits_.Remove(&wait_);
        }
    }
    AbortableWait* Get() { return &wait_; }
    int32_t AbortCode() const { return wait_.abortCode.load(std::memory_order_acquire); }
    /// Tells the sanitizer of the end of the wait for the ticket. Returns the code of an abort of
    /// the work that has ended it.
    Status End(const Ticket& ticket, const WaitLimit& limit);

    /// Enters a wait for everything that is queued now. False: the stream has ended.
    bool EnterForAll(Handle handle) {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        if (stream_.identity_.handle != handle) {
            return false;
        }
        EnterForTasksLocked(0);
        return true;
    }
    /// Waits for the place that was entered. Codes as WaitFor.
    Status Wait(const WaitLimit& limit) {
        return WaitListed({&stream_, wait_.sequence}, limit, this);
    }
    /// As TakeFailureLocked. A wait that reports no failures returns success.
    Status TakeFailure() {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        return wait_.takesFailures ? TakeFailureLocked() : Status();
    }

    /// Leaves the list, and returns the failure that the wait reports, if any.
    Status TakeFailureLocked() {
        LeaveLocked();
        return wait_.failure.ok() ? stream_.failures_.Take(wait_.failuresAfter, wait_.sequence)
                                  : std::exchange(wait_.failure, Status());
    }
    /// Waits for the place. Returns the failure that the wait reports, if any. Codes as WaitFor.
    Status WaitAndTakeFailure(uint64_t sequence, const WaitLimit& limit);

    /// The same for the last of the tasks of EnterForTasksLocked. If that task was skipped, and
    /// none has failed, it returns the code for which the task was skipped.
    Status WaitForTasks(uint64_t sequence, const WaitLimit& limit);

    /// Enters the wait for the last of `count` tasks that are being queued, so that it misses
    /// nothing that becomes of them. It is for the `fill` of Enqueue and EnqueueBatch.
    void EnterForTasksLocked(uint64_t count) {
        wait_.sequence = stream_.issued_.load(std::memory_order_relaxed) + count;
        EnterLocked();
    }
    /// The same for one task. An abort does not end the wait.
    void EnterForTaskLocked() {
        wait_.evenIfAborted = true;
        EnterForTasksLocked(1);
    }
    /// Waits for that task. Returns the code for which it was skipped, or success if it was run.
    /// 207000: as WaitFor.
    Status WaitForTask();

 private:
    /// Logs a failure that the wait has not reported, because it ended with another code.
    void LogFailure() const noexcept;

    Stream& stream_;
    AbortableWait wait_;
};

/// A stream as a call has found it. Each method calls Stream's method of the same name, which
/// compares both handles again, because the stream may have ended since.
struct StreamRef {
    Stream* stream = nullptr;
    Handle handle = 0;
    Handle caller = 0;  // the current context of the caller

    template <typename Fill>
    Status Enqueue(const Work& work, Fill&& fill, Ticket* ticket = nullptr) const {
        return stream->Enqueue(handle, caller, work, std::forward<Fill>(fill), ticket);
    }
    template <typename Prepare, typename Fill>
    Status EnqueueBatch(const Stream::Batch& batch, Prepare&& prepare, Fill&& fill,
                        Ticket* last) const {
        return stream->EnqueueBatch(handle, caller, batch, std::forward<Prepare>(prepare),
                                    std::forward<Fill>(fill), last);
    }
    template <typename Use>
    Status Inspect(Use&& use) const {
        return stream->Inspect(handle, caller, std::forward<Use>(use));
    }
    Status Check() const { return stream->Check(handle, caller); }
    Status CheckFree() const { return stream->CheckFree(handle, caller); }
    Status Synchronize(const WaitLimit& limit = kNoLimit) const {
        return stream->Synchronize(handle, caller, limit);
    }
    Status Query(bool* complete) const { return stream->Query(handle, caller, complete); }
    Status Drop(bool* closing = nullptr) const { return stream->Drop(handle, caller, closing); }
    Status Abort(int32_t code = ACL_ERROR_RT_STREAM_ABORT) const {
        return stream->Abort(handle, caller, code);
    }
    Status StopFront() const { return stream->StopFront(handle, caller); }
    Status Close(bool drop) const { return stream->Close(handle, caller, drop); }
    Status AnnounceDestroy(bool* first, StreamIdentity* identity) const {
        return stream->AnnounceDestroy(handle, caller, first, identity);
    }
    void WithdrawDestroy() const { stream->WithdrawDestroy(handle); }
    Status SetStopOnFailure(bool stop) const {
        return stream->SetStopOnFailure(handle, caller, stop);
    }
    Status StartRecording(const std::shared_ptr<Recorder>& recorder) const {
        return stream->StartRecording(handle, caller, recorder);
    }
    Status FindRecorder(std::shared_ptr<Recorder>* recorder, int32_t* branch) const {
        return stream->FindRecorder(handle, caller, recorder, branch);
    }
    Status WaitInCapture(const CapturePlace& place, int64_t timeoutNanoseconds) const {
        return stream->WaitInCapture(handle, caller, place, timeoutNanoseconds);
    }
};

}  // namespace advstep
