// SPDX-License-Identifier: Apache-2.0
// The running of tasks: claims, and the visits of the workers.
#include <pthread.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/float_environment.h"
#include "src/base/fork.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/run_frame.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local int taskDepth = 0;

const ForkHook forgetTask([](void*) noexcept {
    taskDepth = 0;
    RunFrame::innermost = nullptr;
});

constexpr uint64_t kTasksPerVisit = 64;  // a worker runs them before it looks at other streams

Status WordException(const Task& task, const char* what) noexcept {
    return WordThrown(ACL_ERROR_FAILURE, task.name != nullptr ? task.name : "a task", what);
}

Status RunCatching(const Task& task) noexcept {
    try {
        return task.run(task);
    } catch (const std::exception& error) {
        return WordException(task, error.what());
    } catch (...) {
        return WordException(task, WordCaught("not a std::exception"));
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
Status RunTask(const Task& task, const ContextRef& context) noexcept {
    ++taskDepth;
    Status status;
    if (task.kind == TaskKind::kHostFunction) {
        const NoCancellation noCancellation;  // the function might be a cancellation point
        const KeepErrors keepErrors;
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
bool HeldBack(const Device* device, const Task& task) {
    return device != nullptr &&
           __builtin_expect(device->drops().load(std::memory_order_acquire) > 0, 0) &&
           task.skip == TaskSkip::kNot;
}

}  // namespace

bool InsideTask() { return taskDepth > 0; }

TaskScope::TaskScope() noexcept { ++taskDepth; }
TaskScope::~TaskScope() { --taskDepth; }

const void* Stream::Self() { return reinterpret_cast<const void*>(pthread_self()); }

void Stream::StepAsideFor(const Task& task) {
    if (task.length != TaskLength::kGauged || (workers_->Watches() && task.mayTakeLong())) {
        workers_->StepAside();
    }
}

Status Stream::RunUnlocked(const Task& task, bool traced, std::unique_lock<std::mutex>& lock) {
    const ContextRef context = identity_.context;
    running_ = true;
    lock.unlock();
    if (task.length >= TaskLength::kGauged || task.kind == TaskKind::kHostFunction) {
        StepAsideFor(task);
    }
    if (traced) {
        trace_.Begin({this, completed_.load(std::memory_order_relaxed) + 1});
    }
    const RunFrame frame(this);
    Status status = RunTask(task, context);
    if (traced) {
        trace_.End(task, status.code());
    }
    lock.lock();
    running_ = false;
    return status;
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
        status = task->length == TaskLength::kBrief && keepLock && !traced
                     ? RunCatching(*task)
                     : RunUnlocked(*task, traced, lock);
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
    while (*most > 0 && !Reached(last) && !Trace::On() && !HasExceptionCallback()) {
        const Task& task = *queue_.Front();
        if (task.skip != TaskSkip::kNot || HeldBack(identity_.context.device, task) ||
            !task.brief()) {
            break;
        }
        const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
        Status status = RunCatching(task);
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

FrontObstacle Stream::LookAtFront(WaitClock::time_point* again) {
    if (HeldBack(identity_.context.device, *queue_.Front())) {
        return {FrontObstacle::Kind::kPoll, {}, 0, 0};  // the abort wakes workers and sleepers
    }
    if (!FrontWaits()) {
        return {};
    }
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    return frontWait_.Look(static_cast<WaitTask*>(queue_.Front()), sequence, again);
}

FrontObstacle Stream::ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit,
                                  const AbortableWait* wait, const WaitLimit& waitLimit,
                                  int lockKept) {
    claimant_ = Self();
    FrontObstacle obstacle;
    while (!queue_.Empty() && !Reached(limit) && (wait == nullptr || wait->abortCode == 0)) {
        if (FrontWaits() || HeldBack(identity_.context.device, *queue_.Front())) {
            WaitClock::time_point again = WaitClock::time_point::max();
            obstacle = LookAtFront(&again);
        }
        if (obstacle.kind == FrontObstacle::Kind::kNone && waitLimit.timed &&
            LeftToOthers(waitLimit)) {
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

}  // namespace advstep
