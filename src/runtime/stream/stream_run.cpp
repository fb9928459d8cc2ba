// SPDX-License-Identifier: Apache-2.0
// The threads that run a stream or wait for it: claims, the front task, sleeps and the visits of
// the workers. A thread that waits for a stream also runs it, so running and waiting stand
// together. The rest of Stream is in stream.cpp.

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/crash_signal.h"
#include "src/base/float_environment.h"
#include "src/base/fork.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/device/device.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/stream/sync_findings.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local int taskDepth = 0;

const ForkHook forgetTask([](void*) noexcept {
    taskDepth = 0;
    RunFrame::innermost = nullptr;
});

// The interval at which a sleeping worker checks a condition that no thread announces.
constexpr auto kRecheck = std::chrono::milliseconds(1);

constexpr uint64_t kTasksPerVisit = 64;  // a worker runs them before it looks at other streams

Status ErrorOfThrownBy(const Task& task, const char* what) noexcept {
    return ErrorOfThrown(ACL_ERROR_FAILURE, task.name != nullptr ? task.name : "a task", what);
}

Status RunCatching(const Task& task) noexcept {
    try {
        return task.run(task);
    } catch (const std::exception& error) {
        return ErrorOfThrownBy(task, error.what());
    } catch (...) {
        return ErrorOfThrownBy(task, TextOfCaught("not a std::exception"));
    }
}

Status RunInDefaultEnvironment(const Task& task) noexcept {
    if (__builtin_expect(!DefaultFloatEnvironment::IsSet(), 0)) {
        const DefaultFloatEnvironment environment;  // costs more than a look
        return RunCatching(task);
    }
    Status status = RunCatching(task);
    if (__builtin_expect(!DefaultFloatEnvironment::IsSet(), 0)) {
        DefaultFloatEnvironment::Set();  // the function has changed it
    }
    return status;
}

// A host function sees its stream's context and the default floating-point environment on whatever
// thread it runs. The thread's context, message, last error and environment return after it.
// It is inlined because it is a good part of the time of a short task.
[[gnu::always_inline]] inline Status RunTask(const Task& task, const ContextRef& context) noexcept {
    ++taskDepth;
    Status status;
    if (task.kind == TaskKind::kHostFunction) {
        EnsureAlternateStack();               // for the line of a crash over a full stack
        const NoCancellation noCancellation;  // the function might be a cancellation point
        const ErrorStateScope errors;
        const CurrentContextScope scope(context);
        status = RunInDefaultEnvironment(task);
    } else {
        status = RunCatching(task);
    }
    --taskDepth;
    return status;
}

Status WaitExpired(const WaitTask& task) noexcept {
    constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;
    try {
        return Error(ACL_ERROR_RT_WAIT_TIMEOUT, "{}: what it waits for has not come within {} ms",
                     task.name != nullptr ? task.name : "a wait",
                     task.timeoutNanoseconds / kNanosecondsPerMillisecond);
    } catch (...) {
        return Status(ACL_ERROR_RT_WAIT_TIMEOUT);
    }
}

// Returns whether a task may not start yet, because an abort of the device has not come to its
// stream. The task may follow a wait for a task of another stream, which the abort has dropped. A
// thread that has seen that one end sees drops() above 0.
bool AwaitsAbort(const Device* device, const Task& task) {
    return device != nullptr &&
           __builtin_expect(device->drops().load(std::memory_order_acquire) > 0, 0) &&
           task.skip == TaskSkip::kNot;
}

Status WaitsForItself(const char* what, Handle stream) {
    return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "waits for stream {}, {}; expected a call from another thread", ToPointer(stream),
                 what);
}

}  // namespace

// The tasks that a thread is inside.

bool InsideTask() { return taskDepth > 0; }

TaskScope::TaskScope() noexcept { ++taskDepth; }

TaskScope::~TaskScope() { --taskDepth; }

// A stream whose tasks are part of another stream's task keeps that stream as its parent until they
// have ended. So the parents of the streams that the thread runs do not change meanwhile.
bool Stream::IsRunByThisThread() const {
    for (const RunFrame* frame = RunFrame::innermost; frame != nullptr; frame = frame->outer()) {
        for (const Stream* stream = frame->stream(); stream != nullptr;
             stream = stream->parent_.load(std::memory_order_relaxed)) {
            if (stream == this) {
                return true;
            }
        }
    }
    return false;
}

// A thread that waits inside a task runs others' tasks, which may wait in turn, and so on. Its
// stack must not end before the chain does. From kMostNested tasks on it leaves the tasks that can
// wait, host functions, to the workers, of which each one begins with an empty stack. If no worker
// can be started it has to run them nevertheless, so the wait is refused in the end.
bool RunsNestedTasks() {
    constexpr int kMostNested = 64;
    return RunFrame::innermost != nullptr && RunFrame::innermost->depth() >= kMostNested;
}

WaitLimit InsideNestedTasks(const WaitLimit& given) {
    WaitLimit limit = given;
    limit.timed = given.timed || RunsNestedTasks();
    return limit;
}

// Returns an error if a wait that has not ended must not go on.
Status CheckWait(const WaitLimit& limit) {
    constexpr int kDeepest = 512;
    if (limit.Expired()) {
        return ExpiredError(limit);
    }
    return RunFrame::innermost == nullptr || RunFrame::innermost->depth() < kDeepest
               ? Status()
               : Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "waits inside {} tasks that wait for each other in one thread, because no "
                       "thread can be started; expected fewer",
                       kDeepest);
}

// Only the innermost task counts, because the outer ones merely wait for it or for others.
bool InsideTaskBefore(const std::vector<Ticket>& places) {
    const RunFrame* const frame = RunFrame::innermost;
    for (const Stream* stream = frame != nullptr ? frame->stream() : nullptr; stream != nullptr;
         stream = stream->parent_.load(std::memory_order_relaxed)) {
        for (const Ticket& place : places) {
            if (place.stream == stream && !Reached(place)) {
                return true;
            }
        }
    }
    return false;
}

int Stream::Depth() const {
    int depth = 0;
    for (const Stream* stream = parent_.load(std::memory_order_relaxed); stream != nullptr;
         stream = stream->parent_.load(std::memory_order_relaxed)) {
        ++depth;
    }
    return depth;
}

// The front of a stream.

FrontObstacle FrontWait::Look(WaitTask* wait, uint64_t sequence, WaitClock::time_point* again) {
    FrontObstacle obstacle;
    bool over = false;
    bool recheck = false;
    if (wait->kind == TaskKind::kTicketWait) {
        obstacle.kind = FrontObstacle::Kind::kTicket;
        obstacle.ticket = static_cast<const TicketWaitTask*>(wait)->ticket;
        over = Reached(obstacle.ticket);
    } else {
        auto& poll = static_cast<PollWaitTask&>(*wait);
        obstacle.kind = FrontObstacle::Kind::kPoll;
        over = poll.holds(poll);
        obstacle.thread = poll.thread;
        if (!over && poll.place != nullptr) {
            obstacle.ticket = poll.place(poll);
        }
        recheck = poll.recheck;
    }
    if (over) {
        over_ = sequence;
        expired_ = false;
        return {};
    }
    if (!recheck && wait->timeoutNanoseconds == 0) {
        return obstacle;
    }
    const WaitClock::time_point now = WaitClock::now();
    if (wait->timeoutNanoseconds > 0) {
        if (timed_ != sequence) {
            timed_ = sequence;
            deadline_ = now + std::chrono::nanoseconds(wait->timeoutNanoseconds);
        }
        if (now >= deadline_) {
            over_ = sequence;
            expired_ = true;
            return {};
        }
        *again = std::min(*again, deadline_);
    }
    if (recheck) {
        *again = std::min(*again, now + kRecheck);
    }
    return obstacle;
}

bool Stream::FrontWaits() const {
    const Task& front = *queue_.Front();
    return front.waits() && front.skip == TaskSkip::kNot &&
           !frontWait_.Over(completed_.load(std::memory_order_relaxed) + 1);
}

FrontObstacle Stream::LookAtFront(WaitClock::time_point* again) {
    if (AwaitsAbort(identity_.context.device, *queue_.Front())) {
        return {FrontObstacle::Kind::kPoll, {}, 0, 0};  // the abort wakes workers and sleepers
    }
    if (!FrontWaits()) {
        return {};
    }
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    // The wait may look at memory of the program.
    const RunningWork work(*queue_.Front(), ToPointer(identity_.handle));
    return frontWait_.Look(static_cast<WaitTask*>(queue_.Front()), sequence, again);
}

bool Stream::LeavesFrontToWorkers(const WaitLimit& limit) const {
    const Task* const front = queue_.Front();
    const bool runs = front->skip == TaskSkip::kNot || front->always();
    return runs && (front->mayTakeLong() || limit.Expired()) && !workers_->MustRun(limit, *front);
}

// The running of tasks.

const void* Stream::Self() { return reinterpret_cast<const void*>(pthread_self()); }

FrontObstacle Stream::ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit,
                                  const AbortableWait* wait, const WaitLimit& waitLimit,
                                  int lockKept) {
    claimant_ = Self();
    FrontObstacle obstacle;
    while (!queue_.Empty() && !Reached(limit) && (wait == nullptr || wait->abortCode == 0)) {
        if (FrontWaits() || AwaitsAbort(identity_.context.device, *queue_.Front())) {
            WaitClock::time_point again = WaitClock::time_point::max();
            obstacle = LookAtFront(&again);
        }
        if (obstacle.kind == FrontObstacle::Kind::kNone && waitLimit.timed &&
            LeavesFrontToWorkers(waitLimit)) {
            obstacle.kind = FrontObstacle::Kind::kLeft;
        }
        if (obstacle.kind != FrontObstacle::Kind::kNone) {
            obstacle.front = completed_.load(std::memory_order_relaxed) + 1;
            break;
        }
        RunFront(lock, lockKept-- > 0);
    }
    claimant_ = nullptr;
    if (sleepers_ > 0) {
        changed_.notify_all();  // one of them may have to run the rest
    }
    // A worker that looked while this thread had the claim may have gone to sleep since. Work that
    // is left to the workers must not wait for the end of a nap.
    const bool left = obstacle.kind == FrontObstacle::Kind::kLeft;
    if (!queue_.Empty() && (left || NeedsWaking(false))) {
        lock.unlock();
        workers_->Wake();
        lock.lock();
        if (left && !queue_.Empty() && workers_->MustRun(waitLimit, *queue_.Front())) {
            obstacle = {};  // no worker could be woken
        }
    }
    return obstacle;
}

void Stream::RunFront(std::unique_lock<std::mutex>& lock, bool keepLock) {
    const Task* const task = queue_.Front();
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    const bool expired = frontWait_.Expired(sequence);
    const bool traced = Trace::On();
    Status status;
    const TaskSkip skip = task->skip;
    if (skip != TaskSkip::kNot && !task->always()) {
        if (traced) {
            trace_.Skipped(*task, {this, sequence});
        }
    } else if (task->run != nullptr && !expired) {
        status = Run(*task, traced, keepLock, lock);
    } else {
        if (expired) {
            status = WaitExpired(static_cast<const WaitTask&>(*task));
        }
        if (traced) {
            trace_.Begin({this, sequence});
            trace_.End(*task, status.code());
        }
    }
    if (!status.ok()) {
        const int32_t code = status.code();
        Fail(sequence, std::move(status));
        if (HasExceptionCallback()) {
            // The callback is called before the task counts as ended, so that a synchronisation
            // reports the failure after the callback. It is called as a part of the task, so that
            // it cannot wait for this stream.
            const StreamIdentity identity = identity_;
            running_ = true;
            lock.unlock();
            workers_->StepAside();
            {
                const RunFrame frame(this);
                const TaskScope scope;
                const RunningWork work("exception callback", "aclrtSetExceptionInfoCallback",
                                       ToPointer(identity.handle));
                TellException(identity, sequence, code);
            }
            lock.lock();
            running_ = false;
        }
    }
    if (skip != TaskSkip::kNot) {
        waits_.Skipped(sequence, skipped_.Ended(sequence, skip));
    }
    if (EndFront(sequence) || expired) {
        lock.unlock();
        workers_->Wake();
        if (expired) {
            workers_->NudgeSleepers();  // some may sleep on what the expired wait was waiting for
        }
        lock.lock();
    }
}

inline Status Stream::Run(const Task& task, bool traced, bool keepLock,
                          std::unique_lock<std::mutex>& lock) {
    if (__builtin_expect(WatchingThreads() || SanitizingWork(), 0)) {
        return RunUnlocked<true>(task, traced, lock);
    }
    return task.length == TaskLength::kBrief && keepLock && !traced
               ? RunLocked(task)
               : RunUnlocked<false>(task, traced, lock);
}

inline Status Stream::RunLocked(const Task& task) {
    const RunningWork work(task, ToPointer(identity_.handle));
    return RunCatching(task);
}

template <bool kWatched>
Status Stream::RunUnlocked(const Task& task, bool traced, std::unique_lock<std::mutex>& lock) {
    const ContextRef context = identity_.context;
    const void* const stream = ToPointer(identity_.handle);
    CallStack queuedBy;
    const bool noted = kWatched && CopyCaller(&queuedBy);
    running_ = true;
    lock.unlock();
    if (task.length >= TaskLength::kByData || task.kind == TaskKind::kHostFunction) {
        StepAsideFor(task);
    }
    if (traced) {
        trace_.Begin({this, completed_.load(std::memory_order_relaxed) + 1});
    }
    const RunFrame frame(this);
    const RunningWork work(task, stream, noted ? &queuedBy : nullptr);
    std::optional<DoingScope> doing;
    if constexpr (kWatched) {
        doing.emplace(Ticket{this, completed_.load(std::memory_order_relaxed) + 1}, task);
    }
    Status status = kWatched && SanitizingWork() && task.TellsHost() ? RunTold(task, context)
                                                                     : RunTask(task, context);
    if (traced) {
        trace_.End(task, status.code());
    }
    lock.lock();
    running_ = false;
    return status;
}

// Runs the front, from which the program may learn that the stream has come so far.
Status Stream::RunTold(const Task& task, const ContextRef& context) {
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    TellSeenNow(sequence);
    const InsideHostFunction inside(this, sequence, true);
    return RunTask(task, context);
}

// Copies the call that queued the front.
bool Stream::CopyCaller(CallStack* queuedBy) const {
    const WorkNote* const note = notes_.Find(completed_.load(std::memory_order_relaxed) + 1);
    if (note != nullptr) {
        *queuedBy = note->stack;
    }
    return note != nullptr;
}

void Stream::StepAsideFor(const Task& task) {
    if (task.length != TaskLength::kByData || (workers_->Watches() && task.mayTakeLong())) {
        workers_->StepAside();
    }
}

inline bool Stream::EndFront(uint64_t sequence) {
    queue_.PopFront();  // together with completed_, from which the records' places are counted
    completed_.store(sequence, std::memory_order_release);
    if (Trace::On()) {
        trace_.BecameOldest();
    }
    if (sequence >= nextSleeper_) {
        nextSleeper_ = kNever;
        changed_.notify_all();
    }
    // The workers are woken at once, not when the claim ends: the next task here may need work that
    // waits for this task.
    const bool wake = sequence >= tellWorkersAt_;
    if (wake) {
        tellWorkersAt_ = kNever;
    }
    return wake;
}

bool Stream::RunBriefTasks(uint64_t last, int* most) {
    // The lock is not kept for a callback or for the writing of a trace, which may take long.
    // Watched work is run where it is noted.
    while (*most > 0 && !Reached(last) && !Trace::On() && !HasExceptionCallback() &&
           !WatchingThreads()) {
        const Task& task = *queue_.Front();
        if (task.skip != TaskSkip::kNot || AwaitsAbort(identity_.context.device, task) ||
            !task.brief()) {
            break;
        }
        const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
        Status status = RunLocked(task);
        if (__builtin_expect(!status.ok(), 0)) {
            Fail(sequence, std::move(status));
        }
        --*most;
        if (EndFront(sequence)) {
            return true;
        }
    }
    return false;
}

// The threads that wait.

bool Reached(const Ticket& ticket) { return ticket.stream->Reached(ticket.sequence); }

Status Stream::Synchronize(Handle handle, Handle caller, const WaitLimit& limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    ADVSTEP_RETURN_IF_ERROR(ToldInCapture(CheckNotCaptured()));
    const uint64_t last = issued_.load(std::memory_order_relaxed);
    TellSeen(last);
    if (Reached(last)) {
        return failures_.Take(0, last);
    }
    unwaited_.Waited();
    // The usual case, a few brief tasks that no thread has begun, is handled here in one go.
    int lockKept = 4;  // tasks for which the lock is kept
    bool wakes = false;
    const bool runs = !limit.timed && !IsRunByThisThread() && !RunsNestedTasks();
    if (claimant_ == nullptr && runs) {
        wakes = RunBriefTasks(last, &lockKept);
        if (!wakes && Reached(last)) {
            TellSeen(last);
            return failures_.Take(0, last);
        }
    }
    // It leaves the list under the lock, and ends without it, because it may write to the log.
    const DoingScope doing({this, last}, limit);
    WaitInList wait(this, 0);
    wait.Get()->sequence = last;
    wait.EnterLocked();  // before the lock is released, so that no abort is missed
    if (wakes) {
        lock.unlock();
        workers_->Wake();
        lock.lock();
    }
    if (claimant_ == nullptr && !Reached(last) && runs) {
        (void)ClaimAndRun(lock, last, wait.Get(), limit, lockKept);
    }
    if (!Reached(last) && wait.AbortCode() == 0) {
        lock.unlock();
        ADVSTEP_RETURN_IF_ERROR(WaitListed({this, last}, limit, &wait));
        lock.lock();
    }
    wait.LeaveLocked();
    TellSeen(last);
    const int32_t abort = wait.AbortCode();  // while the lock was released
    Status result = abort != 0 ? AbortedError(abort) : wait.TakeFailureLocked();
    lock.unlock();
    return result;
}

Status Stream::Query(Handle handle, Handle caller, bool* complete) {
    bool wake = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(ToldInCapture(CheckNotCaptured()));
        *complete = Reached(issued_.load(std::memory_order_relaxed));
        TellSeen(issued_.load(std::memory_order_relaxed));
        // The caller does not run the work, and may poll until another thread has run it.
        wake = !*complete && claimant_ == nullptr && !FrontWaits() &&
               workers_->watch() >= WorkerControl::Watch::kNapping;
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

void Stream::Nudge() {
    // Counted before the lock is taken: a thread that read the count earlier and is about to sleep
    // here sees the change, or sleeps already.
    nudges_.fetch_add(1);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (sleepers_ > 0) {
        changed_.notify_all();
    }
}

Status WaitFor(const Ticket& ticket, const WaitLimit& limit) {
    Stream::WaitInList wait(ticket.stream);
    wait.Get()->sequence = ticket.sequence;
    if (!limit.evenIfAborted) {
        const std::lock_guard<std::mutex> lock(ticket.stream->mutex_);
        wait.EnterLocked();
    }
    return Stream::WaitListed(ticket, limit, &wait);
}

Status Stream::WaitListed(const Ticket& ticket, const WaitLimit& given, WaitInList* wait) {
    const WaitLimit limit = InsideNestedTasks(given);
    const DoingScope doing(ticket, limit);
    Ticket next = ticket;
    // Counted before the first stream on the way is looked at, so that no nudge is missed.
    uint64_t nudges = Stream::nudges_.load();
    const auto startAgain = [&] {
        next = ticket;
        nudges = Stream::nudges_.load();
    };
    while (!ticket.stream->Reached(ticket.sequence) && wait->AbortCode() == 0) {
        ADVSTEP_RETURN_IF_ERROR(CheckWait(limit));
        Stream& stream = *next.stream;
        std::unique_lock<std::mutex> lock(stream.mutex_);
        if (stream.Reached(next.sequence)) {
            startAgain();  // the obstacle is gone: go on from the ticket
            continue;
        }
        stream.unwaited_.Waited();
        if (stream.claimant_ == Stream::Self() || stream.IsRunByThisThread()) {
            return WaitsForItself("which is running the host function that calls it",
                                  stream.identity_.handle);
        }
        if (stream.claimant_ != nullptr) {
            stream.WaitForRunner(lock, next.sequence, nudges, limit);
            startAgain();
            continue;
        }
        // The stream is run no further than the ticket: later work may need something that this
        // thread holds.
        const FrontObstacle obstacle = stream.ClaimAndRun(lock, next.sequence, wait->Get(), limit);
        switch (obstacle.kind) {
            case FrontObstacle::Kind::kNone:
                startAgain();
                break;
            case FrontObstacle::Kind::kTicket:
                next = obstacle.ticket;
                break;
            case FrontObstacle::Kind::kPoll:
                if (obstacle.ticket.stream != nullptr) {
                    next = obstacle.ticket;
                    break;
                }
                if (obstacle.thread != 0 &&
                    obstacle.thread == static_cast<uint64_t>(pthread_self())) {
                    return WaitsForItself("which waits for this thread's aclrtProcessReport",
                                          stream.identity_.handle);
                }
                [[fallthrough]];
            case FrontObstacle::Kind::kLeft:
                // The workers continue: they were woken if they slept. The lock may have been
                // released meanwhile, so the front may have ended.
                stream.WaitForProgress(lock, obstacle.front, nudges, limit);
                startAgain();
                break;
        }
    }
    return wait->End(ticket, given);
}

Status Stream::WaitInList::End(const Ticket& ticket, const WaitLimit& limit) {
    if (limit.ofProgram) {
        ticket.stream->TellSeen(ticket.sequence);
    }
    const int32_t abort = AbortCode();
    return abort != 0 ? AbortedError(abort) : Status();
}

void Stream::WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence, uint64_t nudges,
                           const WaitLimit& limit) {
    ++sleepers_;
    while (claimant_ != nullptr && !Reached(sequence) && nudges_.load() == nudges &&
           !limit.Expired()) {
        Sleep(lock, sequence, limit);
    }
    --sleepers_;
}

void Stream::WaitForProgress(std::unique_lock<std::mutex>& lock, uint64_t front, uint64_t nudges,
                             const WaitLimit& limit) {
    ++sleepers_;
    while (!Reached(front) && nudges_.load() == nudges && !limit.Expired()) {
        Sleep(lock, front, limit);
    }
    --sleepers_;
}

void Stream::Sleep(std::unique_lock<std::mutex>& lock, uint64_t sequence, const WaitLimit& limit) {
    const NoCancellation noCancellation;
    const AsleepScope asleep;
    nextSleeper_ = std::min(nextSleeper_, sequence);
    if (limit.until == WaitClock::time_point::max()) {
        changed_.wait(lock);
    } else {
        (void)changed_.wait_until(lock, limit.until);
    }
}

Status Stream::AbortedError(int32_t code) {
    return Error(code, "the {} while this waited for it",
                 code == ACL_ERROR_RT_STREAM_ABORT ? "stream was aborted or destroyed"
                                                   : "work of the stream's device was aborted");
}

Status Stream::WaitInList::WaitAndTakeFailure(uint64_t sequence, const WaitLimit& limit) {
    {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        wait_.sequence = sequence;
        EnterLocked();
    }
    ADVSTEP_RETURN_IF_ERROR(WaitListed({&stream_, sequence}, limit, this));
    const std::lock_guard<std::mutex> lock(stream_.mutex_);
    return TakeFailureLocked();
}

Status Stream::WaitInList::WaitForTasks(uint64_t sequence, const WaitLimit& limit) {
    ADVSTEP_RETURN_IF_ERROR(WaitAndTakeFailure(sequence, limit));
    return wait_.skipped.AsStatus();  // the wait has left the list, so nobody else touches it
}

Status Stream::WaitInList::WaitForTask() {
    ADVSTEP_RETURN_IF_ERROR(WaitListed({&stream_, wait_.sequence}, ToTheEnd(), this));
    const std::lock_guard<std::mutex> lock(stream_.mutex_);
    LeaveLocked();
    return wait_.skipped.AsStatus();
}

void Stream::WaitInList::LogFailure() const noexcept {
    Log(LogLevel::kError, "a stream was destroyed with a failure that nobody asked for: {} ({})",
        wait_.failure.message(), wait_.failure.code());
    if (Sanitizing(SanitizerCheck::kSync)) {
        try {
            ReportUnaskedFailure(0, wait_.failure, nullptr);
        } catch (const std::exception&) {
        }
    }
}

// The view of the stream from outside.

bool Stream::View(StreamView* view) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *view = StreamView{};
    view->stream = this;
    view->handle = identity_.handle;
    view->hidden = identity_.hidden;
    view->issued = issued_.load(std::memory_order_relaxed);
    view->completed = completed_.load(std::memory_order_relaxed);
    if (queue_.Empty()) {
        return false;
    }
    view->claimant = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(claimant_));
    if (const WorkNote* const note = notes_.Find(view->completed + 1)) {
        view->noted = true;
        view->note = *note;
    }
    view->name = queue_.Front()->name;
    const RunningWork work(*queue_.Front(), ToPointer(identity_.handle));  // as in LookAtFront
    ViewFront(view);
    return true;
}

void Stream::ViewFront(StreamView* view) {
    const Task& front = *queue_.Front();
    if (running_) {
        view->front = StreamView::Front::kRuns;
        return;
    }
    if (!FrontWaits() || AwaitsAbort(identity_.context.device, front)) {
        return;
    }
    view->timed = static_cast<const WaitTask&>(front).timeoutNanoseconds != 0;
    if (front.kind == TaskKind::kTicketWait) {
        view->facts.place = static_cast<const TicketWaitTask&>(front).ticket;
        view->facts.holds = advstep::Reached(view->facts.place);
        view->front = StreamView::Front::kTicket;
    } else {
        const auto& poll = static_cast<const PollWaitTask&>(front);
        if (front.type != nullptr && front.type->explain != nullptr) {
            view->facts = front.type->explain(poll);
        } else if (poll.place != nullptr) {
            view->facts.place = poll.place(poll);
            view->facts.giver =
                view->facts.place.stream != nullptr ? WaitGiver::kPlace : WaitGiver::kUnknown;
            view->facts.holds =
                view->facts.place.stream != nullptr && advstep::Reached(view->facts.place);
        }
        view->front = StreamView::Front::kPoll;
    }
    if (view->facts.holds) {
        view->front = StreamView::Front::kReady;
    }
}

// The visits of the workers.

bool Stream::RunSome(bool thorough, WaitClock::time_point* again) {
    if (!thorough &&
        issued_.load(std::memory_order_relaxed) == completed_.load(std::memory_order_relaxed)) {
        return false;
    }
    FrontObstacle obstacle;
    {
        std::unique_lock<std::mutex> lock(mutex_);
        if (queue_.Empty() || claimant_ != nullptr) {
            return false;  // the claimant wakes a worker if it leaves something
        }
        obstacle = LookAtFront(again);
        if (obstacle.kind == FrontObstacle::Kind::kNone) {
            ClaimAndRun(lock, completed_.load(std::memory_order_relaxed) + kTasksPerVisit);
            return true;
        }
    }
    // The other stream is asked after the lock is released, because no two streams' locks are held
    // together. A thread that reaches the ticket after the answer wakes the workers.
    return obstacle.kind != FrontObstacle::Kind::kPoll &&
           obstacle.ticket.stream->ReachedOrTellWorkers(obstacle.ticket.sequence);
}

bool Stream::ReachedOrTellWorkers(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Reached(sequence)) {
        return true;
    }
    tellWorkersAt_ = std::min(tellWorkersAt_, sequence);
    return false;
}

bool Stream::QueuedForWaiters() {
    const uint64_t issued = issued_.load(std::memory_order_relaxed);
    const bool queued = issuedBefore_.load(std::memory_order_relaxed) != issued;
    issuedBefore_.store(issued, std::memory_order_relaxed);
    completedBefore_.store(completed_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return queued && !unwaited_.NobodyWaits();
}

bool Stream::WaitersRunIt() const {
    constexpr uint64_t kSome = 8;
    return !unwaited_.NobodyWaits() && completed_.load(std::memory_order_relaxed) >
                                           completedBefore_.load(std::memory_order_relaxed) + kSome;
}

}  // namespace advstep
