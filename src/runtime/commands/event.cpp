// SPDX-License-Identifier: Apache-2.0
// Implements records, waits, queries and resets of events.

#include "src/runtime/commands/event.h"

#include <chrono>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/commands/event_marks.h"

namespace advstep {

namespace {

// Makes captures refuse the events that can be queried or reset.
void RefuseOldEvent(EventKind kind, Work* work) {
    if (kind != EventKind::kCreateExWithFlag) {
        work->refusal = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        work->refusalText =
            "the event is not of aclrtCreateEventExWithFlag; expected such an event";
    }
}

struct EventTable : HandleTable<Event> {
    EventTable() : HandleTable(HandleKind::kEvent) {}
};

const ForkHook forgetWaitSeconds([](void*) noexcept { EventWaitSeconds().store(0); });

}  // namespace

HandleTable<Event>& Events() {
    static NeverDestroyed<EventTable> events;
    return *events;
}

std::atomic<uint32_t>& EventWaitSeconds() {
    static std::atomic<uint32_t> seconds{0};
    return seconds;
}

Status Event::CheckAlive(Handle handle) const {
    return handle_ == handle
               ? Status()
               : Error(ACL_ERROR_RT_INVALID_HANDLE,
                       "event {} is no event or has been destroyed; expected a live event",
                       ToPointer(handle));
}

void Event::Open(Handle handle, const Traits& traits, std::unique_ptr<EventBoard> board,
                 std::unique_ptr<SharedState> setting) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    board_ = std::move(board);
    boardNumber_ = 0;
    setting_ = std::move(setting);
    everRecorded_ = false;
    recordUsage_ = waitUsage_ = Usage::kNone;
    traits_ = traits;
    record_ = reset_ = Ticket{};
    captured_ = CapturePlace{};
    waits_.Clear();
    ++recordNumber_;
}

Status Event::Close(Handle handle) {
    std::unique_lock<std::shared_mutex> replays(Replaying(), std::defer_lock);
    if (IsExternal(handle)) {
        replays.lock();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    RetireStates();
    handle_ = 0;
    ++recordNumber_;
    return {};
}

Status Event::Check(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckAlive(handle);
}

bool Event::CloseIfOf(Handle context) {
    const std::unique_lock<std::shared_mutex> replays(Replaying());
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ == 0 || (context != 0 && traits_.context != context)) {
        return false;
    }
    try {
        RetireStates();
    } catch (const std::bad_alloc&) {
        (void)setting_.release();
        (void)board_.release();  // queued work may use it, and there is no memory to find out
    }
    handle_ = 0;
    ++recordNumber_;
    return true;
}

Status Event::RunRecord(const Task& task) {
    const auto& record = static_cast<const RecordTask&>(task);
    const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
    const std::lock_guard<std::mutex> lock(record.event->mutex_);
    if (record.event->recordNumber_ == record.recordNumber) {
        record.event->nanoseconds_ = now;
        record.event->stamped_ = true;
    }
    return {};
}

Status Event::Record(Handle handle, const StreamRef& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(Fix(&recordUsage_, Usage::kDefault, "recorded"));
    if (board_ != nullptr) {
        return RecordShared(stream);
    }
    if (setting_ != nullptr) {
        return RecordExternal(stream);
    }
    const uint64_t number = recordNumber_ + 1;
    Ticket ticket;
    CapturePlace place;
    Work work(sizeof(RecordTask));
    work.role = Work::Role::kEventRecord;
    work.place = &place;
    RefuseOldEvent(traits_.kind, &work);
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        work,
        [&](void* memory) {
            auto* const task = new (memory) RecordTask;
            task->name = "event record";
            task->run = &RunRecord;
            task->kind = TaskKind::kAlways;
            task->event = this;
            task->recordNumber = number;
            return task;
        },
        &ticket));
    // A thread that runs the mark meanwhile waits for mutex_ and finds the new number.
    recordNumber_ = number;
    record_ = ticket;
    captured_ = place;
    reset_ = Ticket{};
    stamped_ = false;
    return {};
}

Status Event::WaitOn(Handle handle, const StreamRef& stream, int64_t timeoutNanoseconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(Fix(&waitUsage_, Usage::kDefault, "waited for"));
    if (!traits_.waitable) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "event {} was created without ACL_EVENT_SYNC; expected one with it",
                     ToPointer(handle));
    }
    if (board_ != nullptr) {
        const uint64_t latest = board_->Latest();
        return latest == 0 ? EventBoard::CheckUncaptured(stream)
                           : board_->WaitOn(stream, latest, timeoutNanoseconds);
    }
    if (setting_ != nullptr) {
        return WaitOnExternal(stream, timeoutNanoseconds);
    }
    if (Captured()) {
        return stream.WaitInCapture(captured_, timeoutNanoseconds);
    }
    Work work(sizeof(TicketWaitTask));
    work.role = Work::Role::kEventWait;
    RefuseOldEvent(traits_.kind, &work);
    if (record_.stream == nullptr || reset_.stream != nullptr) {
        ADVSTEP_RETURN_IF_ERROR(stream.Check());
        Status free = stream.CheckFree();
        if (free.code() == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED) {
            return free;
        }
        if (traits_.kind == EventKind::kCreateExWithFlag) {
            return {};
        }
        if (!free.ok()) {
            return Error(work.refusal, "{} on a stream that is being captured", work.refusalText);
        }
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "event {} is not recorded; expected a recorded event", ToPointer(handle));
    }
    waits_.Reserve();
    Ticket wait;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        work,
        [&](void* memory) {
            auto* const task = new (memory) TicketWaitTask;
            task->name = "event wait";
            task->kind = TaskKind::kTicketWait;
            task->timeoutNanoseconds = timeoutNanoseconds;
            task->ticket = record_;
            return task;
        },
        &wait));
    waits_.Add(wait);
    return {};
}

Status Event::CheckCanReset() const {
    return traits_.kind != EventKind::kCreateExWithFlag && traits_.waitable
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event {} cannot be reset; expected an event of aclrtCreateEvent, or of "
                       "aclrtCreateEventWithFlag with ACL_EVENT_SYNC",
                       ToPointer(handle_));
}

Status Event::Reset(Handle handle, const StreamRef& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckCanReset());
    if (setting_ != nullptr) {
        return ResetExternal(stream);
    }
    Ticket ticket;
    Work work(sizeof(Task));
    RefuseOldEvent(traits_.kind, &work);
    // The task is empty: the event is unrecorded from the moment at which the task is reached.
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        work,
        [](void* memory) {
            auto* const task = new (memory) Task;
            task->name = "event reset";
            return task;
        },
        &ticket));
    reset_ = ticket;
    return {};
}

bool Event::Captured() const {
    const std::shared_ptr<Recorder> capture = captured_.capture.lock();
    return capture != nullptr && !capture->Over();
}

Status Event::CheckNotCaptured() const {
    return Captured() ? Error(ACL_ERROR_RT_EVENT_CAPTURED,
                              "event {} was recorded on a stream that is being captured; expected "
                              "aclmdlRICaptureEnd before",
                              ToPointer(handle_))
                      : Status();
}

bool Event::ResetHasRun() const {
    return reset_.stream != nullptr && reset_.stream->Reached(reset_.sequence);
}

Status Event::LatestRecord(Handle handle, Ticket* ticket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    *ticket = ResetHasRun() ? Ticket{} : record_;
    return {};
}

Status Event::Read(Handle handle, State* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    state->kind = traits_.kind;
    state->shared = board_ != nullptr;
    state->timing = traits_.timing;
    state->recorded = record_.stream != nullptr && !ResetHasRun();
    state->complete = state->recorded && record_.stream->Reached(record_.sequence);
    if (board_ != nullptr) {
        state->recorded = board_->Latest() != 0;
        state->complete = board_->Complete(board_->Latest());
    }
    if (setting_ != nullptr) {
        state->recorded = state->complete = IsSet();
    }
    state->nanoseconds = nanoseconds_;
    state->stamped = stamped_;
    state->waitsPassed = waits_.AllPassed();
    return {};
}

Status FindEvent(const void* handle, Event** event) {
    Event* const found = Events().Find(ToHandle(handle));
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE, "event {} is no event; expected a live event",
                     handle);
    }
    *event = found;
    return {};
}

}  // namespace advstep
