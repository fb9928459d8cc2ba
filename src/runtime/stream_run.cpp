// How tasks are run, and by whom: claims, waits and the workers' visits.
#include <algorithm>
#include <exception>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/runtime/current.h"
#include "src/runtime/exception_info.h"
#include "src/runtime/stream.h"

namespace advstep {
namespace {

// A thread is named by the address of this.
thread_local int taskDepth = 0;

constexpr uint64_t kTasksPerVisit = 64;  // of a worker, before it looks at other streams

Status WordException(const char* what) noexcept {
    try {
        return Error(ACL_ERROR_FAILURE, "a task threw an exception: {}", what);
    } catch (...) {
        return Status(ACL_ERROR_FAILURE);
    }
}

Status RunCatching(const Task& task) noexcept {
    try {
        return task.run(task);
    } catch (const std::exception& error) {
        return WordException(error.what());
    } catch (...) {
        return WordException("not a std::exception");
    }
}

// The user's code sees its stream's context as current on whatever thread it runs, and leaves
// nothing behind on a thread of the user's.
Status RunTask(const Task& task, const ContextRef& context) noexcept {
    ++taskDepth;
    Status status;
    if (task.kind == TaskKind::kHostFunction) {
        const KeepErrors keepErrors;
        const KeepCurrentContext keepContext(context);
        status = RunCatching(task);
    } else {
        status = RunCatching(task);
    }
    --taskDepth;
    return status;
}

}  // namespace

bool InsideTask() { return taskDepth > 0; }

const void* Stream::Self() { return &taskDepth; }

void Stream::RunFront(std::unique_lock<std::mutex>& lock) {
    const Task* const task = queue_.Front();
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    const bool skip = Skips(sequence) && task->kind != TaskKind::kEventRecord;
    Status status;
    if (!skip && task->run != nullptr) {
        const ContextRef context = identity_.context;
        lock.unlock();
        if (task->heavy || task->kind == TaskKind::kHostFunction) {
            workers_->StepAside();
        }
        status = RunTask(*task, context);
        lock.lock();
    }
    queue_.PopFront();
    if (!status.ok()) {
        const int32_t code = status.code();
        Fail(sequence, std::move(status));
        if (HasExceptionCallback()) {
            // Before the task counts as ended, so that a synchronisation that reports it comes
            // after; and as a part of it, so that the callback cannot wait for this stream.
            const StreamIdentity identity = identity_;
            lock.unlock();
            workers_->StepAside();
            ++taskDepth;
            TellException(identity, sequence, code);
            --taskDepth;
            lock.lock();
        }
    }
    completed_.store(sequence, std::memory_order_release);
    if (sequence >= nextSleeper_) {
        nextSleeper_ = kNever;
        changed_.notify_all();
    }
    // At once, not when the claim ends: the next task here may need what waits for this one.
    if (sequence >= tellWorkersAt_) {
        tellWorkersAt_ = kNever;
        lock.unlock();
        workers_->Wake();
        lock.lock();
    }
}

Ticket Stream::BlockedBy() const {
    const Task* const front = queue_.Front();
    if (front->kind != TaskKind::kEventWait ||
        Skips(completed_.load(std::memory_order_relaxed) + 1)) {
        return {};
    }
    const Ticket ticket = static_cast<const EventWaitTask*>(front)->ticket;
    return ticket.stream->Reached(ticket.sequence) ? Ticket{} : ticket;
}

Ticket Stream::ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit) {
    claimant_ = Self();
    Ticket blocking;
    while (!queue_.Empty() && !Reached(limit)) {
        blocking = BlockedBy();
        if (blocking.stream != nullptr) {
            break;
        }
        RunFront(lock);
    }
    claimant_ = nullptr;
    if (sleepers_ > 0) {
        changed_.notify_all();  // one of them may have to go on from here
    }
    // A worker that looked while this was claimed may have gone to sleep since.
    if (!queue_.Empty() && workers_->watch() == WorkerControl::Watch::kAsleep) {
        lock.unlock();
        workers_->Wake();
        lock.lock();
    }
    return blocking;
}

bool Stream::ReachedOrTellWorkers(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Reached(sequence)) {
        return true;
    }
    tellWorkersAt_ = std::min(tellWorkersAt_, sequence);
    return false;
}

void Stream::WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence) {
    ++sleepers_;
    const uint64_t nudges = nudges_;
    while (claimant_ != nullptr && !Reached(sequence) && nudges_ == nudges) {
        nextSleeper_ = std::min(nextSleeper_, sequence);
        changed_.wait(lock);
    }
    --sleepers_;
}

bool Stream::RunSome(bool thorough) {
    if (!thorough &&
        issued_.load(std::memory_order_relaxed) == completed_.load(std::memory_order_relaxed)) {
        return false;
    }
    Ticket blocking;
    {
        std::unique_lock<std::mutex> lock(mutex_);
        if (queue_.Empty() || claimant_ != nullptr) {
            return false;  // the claimant wakes a worker if it leaves something
        }
        blocking = BlockedBy();
        if (blocking.stream == nullptr) {
            ClaimAndRun(lock, completed_.load(std::memory_order_relaxed) + kTasksPerVisit);
            return true;
        }
    }
    // Told after the lock is released: no two streams' locks at a time. Whoever reaches the ticket
    // from now on wakes the workers.
    return blocking.stream->ReachedOrTellWorkers(blocking.sequence);
}

Status WaitFor(const Ticket& ticket) {
    Ticket next = ticket;
    while (!ticket.stream->Reached(ticket.sequence)) {
        Stream& stream = *next.stream;
        std::unique_lock<std::mutex> lock(stream.mutex_);
        if (stream.Reached(next.sequence)) {
            next = ticket;  // what blocked it has happened: start again from where we want to be
        } else if (stream.claimant_ == Stream::Self()) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "waits for stream {}, which is running the host function that calls it; "
                         "expected a call from another thread",
                         ToPointer(stream.identity_.handle));
        } else if (stream.claimant_ != nullptr) {
            stream.WaitForRunner(lock, next.sequence);
            next = ticket;
        } else {
            // No further than the ticket: later work may need something this thread holds.
            const Ticket blocking = stream.ClaimAndRun(lock, next.sequence);
            next = blocking.stream != nullptr ? blocking : ticket;
        }
    }
    return {};
}

}  // namespace advstep
