// SPDX-License-Identifier: Apache-2.0
// Events of ACL_EVENT_EXTERNAL: tasks that set and reset them, and that wait until they are set.
#include <new>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

struct SetEventTask : Task {
    EventSetting* setting;
};

struct WaitSetEventTask : PollWaitTask {
    const EventSetting* setting;
};

// Lists the event, which must be alive at a replay.
void ListEvent(const void* source, std::vector<Use>* uses) {
    uses->push_back({Use::Kind::kEvent, "event", source, 0});
}

Work ExternalWork(size_t recordBytes, Handle event) {
    Work work(recordBytes);
    work.listUses = &ListEvent;
    work.source = ToPointer(event);
    return work;
}

// Makes a mark, as the records and resets of other events are: it takes effect even if the work
// around it is dropped.
Task* MakeMark(void* memory, const char* name, EventSetting* setting,
               Status (*run)(const Task& task)) {
    auto* const task = new (memory) SetEventTask;
    task->name = name;
    task->kind = TaskKind::kAlways;
    task->setting = setting;
    task->run = run;
    return task;
}

Status SetEvent(const Task& task) {
    static_cast<const SetEventTask&>(task).setting->store(1);
    Workers().Wake();  // waits for a setting are not woken by the progress of a stream
    return {};
}

Status UnsetEvent(const Task& task) {
    static_cast<const SetEventTask&>(task).setting->store(0);
    return {};
}

}  // namespace

std::shared_mutex& Event::Replaying() {
    static NeverDestroyed<std::shared_mutex> replaying;
    return *replaying;
}

bool Event::IsExternal(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handle_ == handle && setting_ != nullptr;
}

Status Event::RecordExternal(const StreamRef& stream) {
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        ExternalWork(sizeof(SetEventTask), handle_),
        [&](void* memory) {
            return MakeMark(memory, "event record", static_cast<EventSetting*>(setting_->Get()),
                            &SetEvent);
        },
        &ticket));
    everRecorded_ = true;
    if (ticket.stream != nullptr) {  // null: the record is a task of a capture
        record_ = ticket;
        reset_ = Ticket{};
    }
    return {};
}

Status Event::ResetExternal(const StreamRef& stream) {
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        ExternalWork(sizeof(SetEventTask), handle_),
        [&](void* memory) {
            return MakeMark(memory, "event reset", static_cast<EventSetting*>(setting_->Get()),
                            &UnsetEvent);
        },
        &ticket));
    if (ticket.stream != nullptr) {
        reset_ = ticket;
    }
    return {};
}

Status Event::WaitOnExternal(const StreamRef& stream, int64_t timeoutNanoseconds) {
    if (!everRecorded_) {
        ADVSTEP_RETURN_IF_ERROR(stream.Check());
        if (stream.CheckFree().ok()) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "event {} is not recorded; expected a recorded event, or a stream that is "
                         "being captured",
                         ToPointer(handle_));
        }
    }
    waits_.Reserve();
    Ticket wait;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        ExternalWork(sizeof(WaitSetEventTask), handle_),
        [&](void* memory) {
            auto* const task = new (memory) WaitSetEventTask;
            task->name = "event wait";
            task->kind = TaskKind::kPollWait;
            task->timeoutNanoseconds = timeoutNanoseconds;
            task->setting = static_cast<const EventSetting*>(setting_->Get());
            task->holds = [](PollWaitTask& base) {
                return static_cast<const WaitSetEventTask&>(base).setting->load() != 0;
            };
            return task;
        },
        &wait));
    if (wait.stream != nullptr) {
        waits_.Add(wait);
    }
    return {};
}

}  // namespace advstep
