#include "src/runtime/stream.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/context.h"

namespace advstep {
namespace {

// A thread is named by the address of this.
thread_local int taskDepth = 0;

constexpr uint64_t kTasksPerVisit = 64;  // of a worker, before it looks at other streams

Status RunGuarded(const Task& task) {
    ++taskDepth;
    Status status;
    try {
        status = task.run(task);
    } catch (const std::exception& error) {
        status = Error(ACL_ERROR_FAILURE, "a task threw an exception: {}", error.what());
    } catch (...) {
        status = Error(ACL_ERROR_FAILURE, "a task threw an exception");
    }
    --taskDepth;
    return status;
}

}  // namespace

bool InsideTask() { return taskDepth > 0; }

void Stream::Open(const StreamIdentity& identity, WorkerControl* workers) {
    const std::lock_guard<std::mutex> lock(mutex_);
    identity_ = identity;
    workers_ = workers;
    openedAt_ = issued_.load(std::memory_order_relaxed);
    closing_ = false;
    modeSet_ = false;
    failure_ = Status();
    refusal_ = Status();
}

Status Stream::CheckUsable(Handle handle, Handle caller) const {
    if (identity_.handle != handle || closing_) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "stream {} is no stream or has been destroyed; expected a live stream",
                     ToPointer(handle));
    }
    if (identity_.contextHandle != caller) {
        return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                     "stream {} belongs to context {}; expected the current context {}",
                     ToPointer(handle), ToPointer(identity_.contextHandle), ToPointer(caller));
    }
    return {};
}

Status Stream::Check(Handle handle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckUsable(handle, caller);
}

Status Stream::Synchronize(Handle handle, Handle caller) {
    Ticket now;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        now = {this, issued_.load(std::memory_order_relaxed)};
    }
    ADVSTEP_RETURN_IF_ERROR(WaitFor(now));
    return TakeFailure(now.sequence);
}

Status Stream::Query(Handle handle, Handle caller, bool* complete) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    *complete = Reached(issued_.load(std::memory_order_relaxed));
    return {};
}

Status Stream::Close(Handle handle, Handle caller, bool drop) {
    Ticket last;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        last = {this, issued_.load(std::memory_order_relaxed)};
        if (drop) {
            skipUpTo_ = last.sequence;
        } else if (claimant_ == &taskDepth) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "stream {} is running the host function that destroys it; expected "
                         "another thread, or another stream",
                         ToPointer(handle));
        }
        closing_ = true;
    }
    // Forced from the stream's own host function: what is left is skipped when that returns.
    const Status waited = WaitFor(last);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!waited.ok() && !drop) {
        closing_ = false;
        return Status(waited.code(), waited.message());
    }
    if (!failure_.ok()) {
        Log(LogLevel::kError, "stream {} destroyed with a failure that nobody asked for: {} ({})",
            identity_.id, failure_.message(), failure_.code());
    }
    identity_ = StreamIdentity{};
    return {};
}

Status Stream::SetStopOnFailure(Handle handle, Handle caller, bool stop) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    if (modeSet_) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "stream {} has had its failure mode set; expected one call per stream",
                     ToPointer(handle));
    }
    modeSet_ = true;
    identity_.context->stopOnFailure.store(stop, std::memory_order_relaxed);
    return {};
}

Status Stream::TakeFailure(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok() || failureSequence_ > sequence) {
        return {};
    }
    refusal_ = Status();
    return std::exchange(failure_, Status());
}

bool Stream::AliveOn(const Device* device, const Context* context, StreamIdentity* identity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (identity_.handle == 0 || closing_ || (device != nullptr && identity_.device != device) ||
        (context != nullptr && identity_.context != context)) {
        return false;
    }
    *identity = identity_;
    return true;
}

void Stream::Fail(uint64_t sequence, Status status) {
    if (identity_.handle == 0 || sequence <= openedAt_) {
        return;  // forcibly destroyed while the task ran
    }
    Log(LogLevel::kInfo, "stream {}: task {} failed: {}", identity_.id, sequence, status.message());
    if (identity_.context->stopOnFailure.load(std::memory_order_relaxed)) {
        skipUpTo_ = std::max(skipUpTo_, issued_.load(std::memory_order_relaxed));
        if (refusal_.ok()) {
            refusal_ = Error(status.code(), "the stream has stopped after a failure: {}",
                             status.message());
        }
    }
    if (failure_.ok()) {
        failure_ = std::move(status);
        failureSequence_ = sequence;
    }
}

void Stream::RunFront(std::unique_lock<std::mutex>& lock) {
    const Task* const task = queue_.Front();
    const uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
    const bool skip = sequence <= skipUpTo_ && task->kind != TaskKind::kEventRecord;
    Status status;
    if (!skip && task->run != nullptr) {
        lock.unlock();
        if (task->heavy || task->kind == TaskKind::kHostFunction) {
            workers_->StepAside();
        }
        status = RunGuarded(*task);
        lock.lock();
    }
    queue_.PopFront();
    if (!status.ok()) {
        Fail(sequence, std::move(status));
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
        completed_.load(std::memory_order_relaxed) < skipUpTo_) {
        return {};
    }
    const Ticket ticket = static_cast<const EventWaitTask*>(front)->ticket;
    return ticket.stream->Reached(ticket.sequence) ? Ticket{} : ticket;
}

Ticket Stream::ClaimAndRun(std::unique_lock<std::mutex>& lock, uint64_t limit) {
    claimant_ = &taskDepth;
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
    while (claimant_ != nullptr && !Reached(sequence)) {
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
        } else if (stream.claimant_ == &taskDepth) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "waits for stream {}, which is running the host function that calls it; "
                         "expected a call from another thread",
                         stream.identity_.id);
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
