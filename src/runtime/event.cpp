#include "src/runtime/event.h"

#include <chrono>
#include <new>

#include "acl/acl_base.h"

namespace advstep {

struct Event::RecordTask : Task {
    Event* event;
    uint64_t recordNumber;
};

Status Event::CheckAlive(Handle handle) const {
    return handle_ == handle
               ? Status()
               : Error(ACL_ERROR_RT_INVALID_HANDLE,
                       "event {} is no event or has been destroyed; expected a live event",
                       ToPointer(handle));
}

void Event::Open(Handle handle, const Traits& traits) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    traits_ = traits;
    record_ = reset_ = Ticket{};
    waits_.Clear();
    ++recordNumber_;
}

Status Event::Close(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    handle_ = 0;
    ++recordNumber_;
    return {};
}

bool Event::CloseIfOf(Handle context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ == 0 || (context != 0 && traits_.context != context)) {
        return false;
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

Status Event::Record(Handle handle, Stream* stream, Handle streamHandle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    const uint64_t number = recordNumber_ + 1;
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(stream->Enqueue(
        streamHandle, caller, sizeof(RecordTask),
        [&](void* memory) {
            auto* const task = new (memory) RecordTask;
            task->run = &RunRecord;
            task->kind = TaskKind::kEventRecord;
            task->event = this;
            task->recordNumber = number;
            return task;
        },
        &ticket));
    // Whoever runs the mark already waits for mutex_.
    recordNumber_ = number;
    record_ = ticket;
    reset_ = Ticket{};
    stamped_ = false;
    return {};
}

Status Event::WaitOn(Handle handle, Stream* stream, Handle streamHandle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    if (!traits_.waitable) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "event {} was created without ACL_EVENT_SYNC; expected one with it",
                     ToPointer(handle));
    }
    if (record_.stream == nullptr || reset_.stream != nullptr) {
        if (traits_.kind == EventKind::kCreateExWithFlag) {
            return stream->Check(streamHandle, caller);
        }
        ADVSTEP_RETURN_IF_ERROR(stream->Check(streamHandle, caller));
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "event {} is not recorded; expected a recorded event", ToPointer(handle));
    }
    waits_.Reserve();
    Ticket wait;
    ADVSTEP_RETURN_IF_ERROR(stream->Enqueue(
        streamHandle, caller, sizeof(EventWaitTask),
        [&](void* memory) {
            auto* const task = new (memory) EventWaitTask;
            task->kind = TaskKind::kEventWait;
            task->ticket = record_;
            return task;
        },
        &wait));
    waits_.Add(wait);
    return {};
}

Status Event::CheckCanReset() const {
    return traits_.kind == EventKind::kCreateWithFlag && traits_.waitable
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event {} cannot be reset; expected an event of aclrtCreateEventWithFlag "
                       "with ACL_EVENT_SYNC",
                       ToPointer(handle_));
}

Status Event::Reset(Handle handle, Stream* stream, Handle streamHandle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckCanReset());
    Ticket ticket;
    // An empty task: the event is unrecorded from the moment it is reached.
    ADVSTEP_RETURN_IF_ERROR(stream->Enqueue(
        streamHandle, caller, sizeof(Task), [](void* memory) { return new (memory) Task; },
        &ticket));
    reset_ = ticket;
    return {};
}

bool Event::ResetHasRun() const {
    return reset_.stream != nullptr && reset_.stream->Reached(reset_.sequence);
}

Status Event::LatestRecord(Handle handle, Ticket* ticket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    *ticket = ResetHasRun() ? Ticket{} : record_;
    return {};
}

Status Event::Read(Handle handle, State* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    state->kind = traits_.kind;
    state->timing = traits_.timing;
    state->recorded = record_.stream != nullptr && !ResetHasRun();
    state->complete = state->recorded && record_.stream->Reached(record_.sequence);
    state->nanoseconds = nanoseconds_;
    state->stamped = stamped_;
    state->waitsPassed = waits_.AllPassed();
    return {};
}

}  // namespace advstep
