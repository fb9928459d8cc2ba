// SPDX-License-Identifier: Apache-2.0
// A stream's life, its queue, its failures and its captures. The threads that run a stream or wait
// for it are in stream_run.cpp.

#include "src/runtime/stream/stream.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/device/device.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/sync_findings.h"

namespace advstep {
namespace {

bool OutlastsStop(const Task& task) {
    return task.kind == TaskKind::kTicketWait &&
           static_cast<const TicketWaitTask&>(task).outlastsStop;
}

bool EndsTaskBefore(const Task* task) {
    return task != nullptr && task->kind == TaskKind::kPollWait &&
           static_cast<const PollWaitTask*>(task)->endsTaskBefore;
}

}  // namespace

// The life of a stream.

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
    ReportUnaskedLocked();
    identity_ = StreamIdentity{};
    hold_.GiveBack();
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

Status Stream::Check(Handle handle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckUsable(handle, caller);
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

Status Stream::RefuseOwnTask() const {
    return claimant_ != Self() && !IsRunByThisThread()
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "stream {} is running the host function that destroys it; expected another "
                       "thread, or another stream",
                       ToPointer(identity_.handle));
}

// The queueing of work. Enqueue and EnqueueBatch are in the header.

Status Stream::LookForRoom(uint64_t sequence) {
    const uint64_t completed = completed_.load(std::memory_order_relaxed);
    roomUpTo_ =
        queueLimit_ == 0 || queueLimit_ > kNever - completed ? kNever : completed + queueLimit_;
    return sequence <= roomUpTo_
               ? Status()
               : Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "stream {} holds {} tasks, and ADVANCE_STEP_QUEUE allows {}; expected a "
                       "synchronisation before, or a greater limit",
                       ToPointer(identity_.handle), sequence - 1 - completed, queueLimit_);
}

void Stream::ListMemory(uint64_t upTo, TouchedMemory* touched) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t completed = completed_.load(std::memory_order_relaxed);
    queue_.ForEachBetween(completed + 1, completed, upTo, [&](const Task& task, uint64_t sequence) {
        touched->NextTask(sequence);
        task.ListMemory(touched);
    });
}

Status Stream::RefusedError() const {
    return Status(failures_.refusal().code(), failures_.refusal().message());
}

bool Stream::NeedsWaking(bool heavy) const {
    using Watch = WorkerControl::Watch;
    // A worker that rests is not woken for light work, because waking it costs an enqueuer more
    // than the rest costs the work.
    return workers_->watch() >= (heavy                     ? Watch::kResting
                                 : unwaited_.NobodyWaits() ? Watch::kNapping
                                                           : Watch::kAsleep);
}

void Stream::LeaveBusySetIfIdle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    LeaveBusySetIfIdleLocked();
}

void Stream::LeaveBusySetIfIdleLocked() {
    const bool idle = queue_.Empty() && (failures_.empty() || identity_.handle == 0);
    if (idle && inBusySet_ && busySet_ != nullptr) {
        inBusySet_ = false;
        busySet_->Remove(tableIndex);
    }
}

// What the sanitizer is told. Without memory it misses something.

void Stream::TellQueued(uint64_t sequence, const Task& task, const Work& work) noexcept {
    try {
        TheDeviceSanitizer().Queued(
            {this, sequence, ToPointer(identity_.handle), identity_.context.device}, task,
            DescribeWork(task, work));
    } catch (const std::bad_alloc&) {
    }
}

void Stream::TellBatch(uint64_t first, const void* records, const Batch& batch) noexcept {
    WorkPlace place{this, first, ToPointer(identity_.handle), identity_.context.device};
    const BatchWorks& works = batch.works;
    DeviceSanitizer& sanitizer = TheDeviceSanitizer();
    const auto* next = static_cast<const unsigned char*>(records);
    try {
        if (works.works != nullptr) {
            place.replay = ReplayCall();
        }
        if (works.model != nullptr) {
            sanitizer.BeginReplay(place, works.model);
        }
        for (uint64_t index = 0; index < batch.count; ++index, ++place.sequence) {
            const Task& task = *reinterpret_cast<const Task*>(next);
            next += task.bytes;
            const bool isWork = works.works != nullptr && index >= works.first &&
                                index - works.first < works.works->size();
            sanitizer.Queued(place, task, isWork ? (*works.works)[index - works.first] : nullptr);
        }
        if (works.model != nullptr) {
            --place.sequence;
            sanitizer.EndReplay(place, works.model);
        }
    } catch (const std::bad_alloc&) {
    }
}

void Stream::TellSeenNow(uint64_t sequence) noexcept {
    try {
        TheDeviceSanitizer().HostSees(this, sequence);
    } catch (const std::bad_alloc&) {
    }
}

// The skipping of work.

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

Status Stream::StopFront(Handle handle, Handle caller) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
        if (queue_.Empty()) {
            return {};
        }
        // A running task cannot be interrupted, and one that has not begun stays.
        Task* const wait = running_ ? queue_.Second() : queue_.Front();
        if (running_ ? !EndsTaskBefore(wait) : !FrontWaits() || OutlastsStop(*wait)) {
            return {};
        }
        wait->skip = TaskSkip::kAborted;
    }
    workers_->Wake();
    workers_->NudgeSleepers();  // some may sleep on what the wait was waiting for
    return {};
}

void Stream::SkipReplay(uint64_t after, uint64_t upTo, TaskSkip why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    SkipLocked(after, upTo, why);
}

void Stream::RedirectReplayWaits(uint64_t after, uint64_t upTo, const Ticket& until) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t first = completed_.load(std::memory_order_relaxed) + 1;
    queue_.ForEachBetween(first, after, upTo, [&](Task& task, uint64_t) {
        if (task.kind == TaskKind::kTicketWait) {
            static_cast<TicketWaitTask&>(task).ticket = until;
        }
    });
}

Status Stream::CheckRan(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return skipped_.CheckRan(sequence);
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
                end.redirectWaits(end, {this, sequence});
            }
        }
    });
    if (!hasEnds) {
        return;
    }
    queue_.ForEachBetween(completed + 1, after, upTo, [](Task& task, uint64_t) {
        if (task.kind == TaskKind::kBranchEnd) {
            const auto& end = static_cast<const BranchEndTask&>(task);
            end.skipBranch(end);  // a second time has no effect
        }
    });
}

// A task that runs is not dropped, so the waits for it go on.
void Stream::DropLocked() {
    SkipLocked(0, kNever, TaskSkip::kDestroyed);
    waits_.Abort(completed_.load(std::memory_order_relaxed) + (running_ ? 1 : 0),
                 ACL_ERROR_RT_STREAM_ABORT);
}

// Failures.

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

void Stream::Fail(uint64_t sequence, Status status) noexcept {
    Log(LogLevel::kInfo, "task {} of stream {} failed with {}: {}", sequence,
        ToPointer(identity_.handle), status.code(), status.message());
    if (identity_.context.context->stopOnFailure.load(std::memory_order_relaxed)) {
        SkipLocked(sequence, kNever, TaskSkip::kStopped);
        skipped_.StoppedWith(status.code());
        failures_.RefuseNewWork(status);
    }
    if (WatchingThreads() && failures_.empty()) {
        const WorkNote* const note = notes_.Find(sequence);
        failureNoted_ = note != nullptr;
        failedBy_ = failureNoted_ ? note->stack : failedBy_;
    }
    failures_.Add(sequence, std::move(status));
}

void Stream::ReportUnasked() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReportUnaskedLocked();
}

// Only the first one is told: the others may follow from it.
void Stream::ReportUnaskedLocked() {
    if (!Sanitizing(SanitizerCheck::kSync) || failures_.empty() || identity_.handle == 0) {
        return;
    }
    try {
        ReportUnaskedFailure(identity_.handle, failures_.First(),
                             failureNoted_ ? &failedBy_ : nullptr);
    } catch (const std::exception&) {
    }
}

// Captures and updates of task groups.

Status Stream::StartRecording(Handle handle, Handle caller,
                              const std::shared_ptr<Recorder>& recorder) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    if (recorder->Captures() && handle == identity_.context.defaultStreamHandle) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "stream {} is the context's default stream; expected one of "
                     "aclrtCreateStream",
                     ToPointer(handle));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    if (RecordingLocked()) {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                     "stream {} is updating a task group; expected aclmdlRICaptureTaskUpdateEnd "
                     "before",
                     ToPointer(handle));
    }
    recorder_ = recorder;
    recorderBranch_ = 0;
    return {};
}

Status Stream::CheckFree(Handle handle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    return CheckNotCaptured();
}

Status Stream::FindRecorder(Handle handle, Handle caller, std::shared_ptr<Recorder>* recorder,
                            int32_t* branch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    (void)RecordingLocked();
    *recorder = recorder_;
    *branch = recorderBranch_;
    return {};
}

void Stream::StopRecording(const Recorder* recorder) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (recorder_.get() == recorder) {
        recorder_ = nullptr;
    }
}

Status Stream::WaitInCapture(Handle handle, Handle caller, const CapturePlace& place,
                             int64_t timeoutNanoseconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    if (RecordingLocked()) {
        return recorder_->RecordWait(recorderBranch_, place, timeoutNanoseconds);
    }
    if (handle == identity_.context.defaultStreamHandle) {
        return Error(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                     "stream {} is the context's default stream, which no capture may pull in; "
                     "expected one of aclrtCreateStream",
                     ToPointer(handle));
    }
    const std::shared_ptr<Recorder> capture = place.capture.lock();
    int32_t branch = 0;
    if (capture == nullptr) {
        return {};  // the capture is over, so the event counts as never recorded
    }
    ADVSTEP_RETURN_IF_ERROR(
        capture->Join({identity_.handle, identity_.context.handle, failures_.refusal()}, place,
                      timeoutNanoseconds, &branch));
    if (branch >= 0) {
        recorder_ = capture;
        recorderBranch_ = branch;
    }
    return {};
}

Status Stream::CapturedError() const {
    if (recorder_->Over() || !recorder_->Captures()) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(recorder_->CheckActive());
    return Error(ACL_ERROR_RT_STREAM_CAPTURED,
                 "stream {} is being captured; expected aclmdlRICaptureEnd before",
                 ToPointer(identity_.handle));
}

Status Stream::CheckNotRecorded() const {
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    if (recorder_ == nullptr || recorder_->Over()) {
        return {};
    }
    return Error(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                 "stream {} updates a task group, which takes operator launches only; expected "
                 "aclmdlRICaptureTaskUpdateEnd before",
                 ToPointer(identity_.handle));
}

bool Stream::RecordingLocked() {
    if (recorder_ != nullptr && recorder_->Over()) {
        recorder_ = nullptr;
    }
    return recorder_ != nullptr;
}

}  // namespace advstep
