// SPDX-License-Identifier: Apache-2.0
// Implements a stream's life, its checks, synchronisation and failures.

#include "src/runtime/stream/stream.h"

#include <algorithm>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/device/device.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

bool Reached(const Ticket& ticket) { return ticket.stream->Reached(ticket.sequence); }

void Stream::Open(const StreamIdentity& identity, WorkerControl* workers, BusySet* busySet) {
    const std::lock_guard<std::mutex> lock(mutex_);
    failures_.Open();  // first: it may throw
    identity_ = identity;
    device_.store(identity.context.device, std::memory_order_release);
    if (workers_ != workers) {
        workers_ = workers;  // stored once, because it is read without the lock
    }
    if (busySet_ != busySet) {
        busySet_ = busySet;  // in the first life: an object stays in its table
        inBusySet_ = false;
    }
    closing_ = false;
    modeSet_ = false;
    parent_.store(nullptr, std::memory_order_relaxed);
    recorder_ = nullptr;
    // The records of a model's own streams are held back by the stream of the replay.
    const Device* const device = identity.context.device;
    queueLimit_ = identity.hidden || device == nullptr ? 0 : device->settings().queueTasks;
    roomUpTo_ = 0;
    trace_.Open(device != nullptr ? device->id() : 0, identity.id, identity.hidden);
}

Status Stream::UnusableError(Handle handle, Handle caller) const {
    if (identity_.handle != handle || closing_) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "stream {} is no stream or has been destroyed; expected a live stream",
                     ToPointer(handle));
    }
    return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                 "stream {} belongs to context {}; expected the current context {}",
                 ToPointer(handle), ToPointer(identity_.context.handle), ToPointer(caller));
}

Status Stream::Check(Handle handle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckUsable(handle, caller);
}

Status Stream::Query(Handle handle, Handle caller, bool* complete) {
    bool wake = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
        *complete = Reached(issued_.load(std::memory_order_relaxed));
        // The caller does not run the work, and may poll until another thread has run it.
        wake = !*complete && claimant_ == nullptr && !FrontWaits() &&
               workers_->watch() >= WorkerControl::Watch::kNapping;
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

Status Stream::Close(Handle handle, Handle caller, bool drop) {
    Ticket last;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
        last = {this, issued_.load(std::memory_order_relaxed)};
        ADVSTEP_RETURN_IF_ERROR(RefuseOwnTask());
        if (drop) {
            DropLocked();
        }
        closing_ = true;
    }
    if (drop) {
        workers_->Wake();
        workers_->NudgeSleepers();  // some may sleep on what the dropped work was waiting for
    }
    Status waited = WaitFor(last, ToTheEnd());
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!waited.ok()) {
        closing_ = false;
        return waited;
    }
    waits_.HandOver(&failures_);  // their threads may not have looked yet
    failures_.LogUnreported(handle);
    identity_ = StreamIdentity{};
    recorder_ = nullptr;
    LeaveBusySetIfIdleLocked();  // so that looks at the busy streams skip this one
    return {};
}

Status Stream::AnnounceDestroy(Handle handle, Handle caller, bool* first,
                               StreamIdentity* identity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    ADVSTEP_RETURN_IF_ERROR(RefuseOwnTask());
    *identity = identity_;
    *first = !std::exchange(identity_.attributes.destroyAnnounced, true);
    return {};
}

void Stream::WithdrawDestroy(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (identity_.handle == handle) {
        identity_.attributes.destroyAnnounced = false;
    }
}

Status Stream::RefuseOwnTask() const {
    return claimant_ != Self() && !NeedsThisThread()
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "stream {} is running the host function that destroys it; expected another "
                       "thread, or another stream",
                       ToPointer(identity_.handle));
}

// A task that runs is not skipped. A task that is to be skipped keeps its first reason.
void Stream::SkipLocked(uint64_t after, uint64_t upTo, TaskSkip why) {
    const uint64_t completed = completed_.load(std::memory_order_relaxed);
    after = std::max(after, completed + (running_ ? 1 : 0));
    bool hasEnds = false;
    queue_.ForEachBetween(completed + 1, after, upTo, [&](Task& task, uint64_t sequence) {
        hasEnds = hasEnds || task.kind == TaskKind::kBranchEnd;
        if (task.skip == TaskSkip::kNot) {
            task.skip = why;
            if (task.kind == TaskKind::kBranchEnd) {
                const auto& end = static_cast<const BranchEndTask&>(task);
                end.hold(end, {this, sequence});
            }
        }
    });
    if (!hasEnds) {
        return;
    }
    queue_.ForEachBetween(completed + 1, after, upTo, [](Task& task, uint64_t) {
        if (task.kind == TaskKind::kBranchEnd) {
            const auto& end = static_cast<const BranchEndTask&>(task);
            end.skipped(end);  // a second time has no effect
        }
    });
}

void Stream::HoldReplay(uint64_t after, uint64_t upTo, const Ticket& until) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t first = completed_.load(std::memory_order_relaxed) + 1;
    queue_.ForEachBetween(first, after, upTo, [&](Task& task, uint64_t) {
        if (task.kind == TaskKind::kTicketWait) {
            static_cast<TicketWaitTask&>(task).ticket = until;
        }
    });
}

void Stream::SkipReplay(uint64_t after, uint64_t upTo, TaskSkip why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    SkipLocked(after, upTo, why);
}

// A task that runs is not dropped, so the waits for it go on.
void Stream::DropLocked() {
    SkipLocked(0, kNever, TaskSkip::kDestroyed);
    waits_.Abort(completed_.load(std::memory_order_relaxed) + (running_ ? 1 : 0),
                 ACL_ERROR_RT_STREAM_ABORT);
}

Status Stream::Drop(Handle handle, Handle caller, bool* closing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle, caller));
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    ADVSTEP_RETURN_IF_ERROR(RefuseOwnTask());
    DropLocked();
    if (closing != nullptr) {
        *closing = closing_;
    }
    return {};
}

Status Stream::Abort(Handle handle, Handle caller, int32_t code) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle, caller));
        if (code != ACL_ERROR_RT_DEVICE_TASK_ABORT) {  // an abort of the device keeps the capture
            ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
        }
        const bool device = code == ACL_ERROR_RT_DEVICE_TASK_ABORT;
        SkipLocked(0, kNever, device ? TaskSkip::kDeviceAborted : TaskSkip::kAborted);
        waits_.Abort(completed_.load(std::memory_order_relaxed), code);
    }
    workers_->Wake();
    // Some threads may sleep on what the dropped work was waiting for.
    workers_->NudgeSleepers();
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

Status Stream::CheckRan(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return skipped_.CheckRan(sequence);
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
    identity_.context.context->stopOnFailure.store(stop, std::memory_order_relaxed);
    return {};
}

Status Stream::TakeFailureBetween(uint64_t sequence, uint64_t last) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failures_.Take(sequence, last);
}

bool Stream::BelongsTo(const Device* device, const Context* context, StreamIdentity* identity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (identity_.handle == 0 || (device != nullptr && identity_.context.device != device) ||
        (context != nullptr && identity_.context.context != context)) {
        return false;
    }
    *identity = identity_;
    return true;
}

void Stream::Fail(uint64_t sequence, Status status) noexcept {
    Log(LogLevel::kInfo, "task {} of stream {} failed with {}: {}", sequence,
        ToPointer(identity_.handle), status.code(), status.message());
    if (identity_.context.context->stopOnFailure.load(std::memory_order_relaxed)) {
        SkipLocked(sequence, kNever, TaskSkip::kStopped);
        skipped_.StoppedWith(status.code());
        failures_.RefuseNewWork(status);
    }
    failures_.Add(sequence, std::move(status));
}

Status Stream::RefusedError() const {
    return Status(failures_.refusal().code(), failures_.refusal().message());
}

}  // namespace advstep
