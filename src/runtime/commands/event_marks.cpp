// SPDX-License-Identifier: Apache-2.0
// Records and waits of graphs that concern streams outside the graph.

#include "src/runtime/commands/event_marks.h"

#include <algorithm>
#include <new>

#include "acl/acl_rt.h"

namespace advstep {
namespace {

Work GraphWork(size_t recordBytes, Handle event, Work::Role role) {
    Work work(recordBytes);
    work.role = role;
    work.source = ToPointer(event);
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        uses->push_back({Use::Kind::kEvent, "event", source, 0});
    };
    return work;
}

}  // namespace

Status Event::Fix(Usage* fixed, Usage usage, const char* what) const {
    if (*fixed == Usage::kNone) {
        *fixed = usage;
    }
    const bool external = *fixed == Usage::kExternal;
    return *fixed == usage ? Status()
                           : Error(ACL_ERROR_RT_PARAM_INVALID,
                                   "event {} has been {} {} flag EXTERNAL; expected the same flag "
                                   "in each call",
                                   ToPointer(handle_), what, external ? "with" : "without");
}

Status Event::CheckModel(const StreamRef& stream) const {
    std::shared_ptr<Recorder> recorder;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(stream.FindRecorder(&recorder, &branch));
    if (recorder == nullptr || !recorder->Captures()) {
        return Error(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "stream {} is not being captured; expected a capturing stream for flag "
                     "EXTERNAL",
                     ToPointer(stream.handle));
    }
    return traits_.kind == EventKind::kCreateExWithFlag && traits_.flag == ACL_EVENT_SYNC
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event {} is not of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone; "
                       "expected such an event for flag EXTERNAL",
                       ToPointer(handle_));
}

Status Event::RecordInModel(Handle handle, const StreamRef& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(Fix(&recordUsage_, Usage::kExternal, "recorded"));
    ADVSTEP_RETURN_IF_ERROR(CheckModel(stream));
    return stream.Enqueue(GraphWork(sizeof(RecordTask), handle, Work::Role::kGraphRecord),
                          [&](void* memory) {
                              auto* const task = new (memory) RecordTask;
                              task->name = "event record";
                              task->run = &RunRecord;
                              task->kind = TaskKind::kAlways;
                              task->event = this;
                              task->recordNumber = 0;  // of no record, until a replay fills it
                              return task;
                          });
}

Status Event::WaitInModel(Handle handle, const StreamRef& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(Fix(&waitUsage_, Usage::kExternal, "waited for"));
    ADVSTEP_RETURN_IF_ERROR(CheckModel(stream));
    return stream.Enqueue(GraphWork(sizeof(TicketWaitTask), handle, Work::Role::kGraphWait),
                          [&](void* memory) {
                              auto* const task = new (memory) TicketWaitTask;
                              task->name = "event wait";
                              task->kind = TaskKind::kTicketWait;
                              // The ticket has been reached. It counts if the capture has just
                              // ended, so that this task is queued.
                              task->ticket = {stream.stream, 0};
                              return task;
                          });
}

void EventMarks::Add(const void* event) {
    Event* const found = Events().Find(ToHandle(event));
    if (found != nullptr) {
        events_.emplace_back(found, ToHandle(event));
    }
}

Status EventMarks::Lock() {
    std::sort(events_.begin(), events_.end());
    events_.erase(std::unique(events_.begin(), events_.end()), events_.end());
    for (const auto& [event, handle] : events_) {
        if (locks_.empty() || locks_.back().mutex() != &event->mutex_) {
            locks_.emplace_back(event->mutex_);
        }
        ADVSTEP_RETURN_IF_ERROR(event->CheckAlive(handle));
    }
    return {};
}

void EventMarks::FillWait(const void* event, Stream* stream, TicketWaitTask* task) const {
    const Ticket& latest = Events().Find(ToHandle(event))->record_;
    task->ticket = latest.stream != nullptr ? latest : Ticket{stream, 0};
}

void EventMarks::FillRecord(const void* event, Task* task) const {
    static_cast<Event::RecordTask*>(task)->recordNumber =
        Events().Find(ToHandle(event))->recordNumber_ + 1;
}

void EventMarks::Recorded(const void* event, const Ticket& place) const {
    Event& recorded = *Events().Find(ToHandle(event));
    ++recorded.recordNumber_;
    recorded.record_ = place;
    recorded.reset_ = Ticket{};
    recorded.captured_ = CapturePlace{};
    recorded.stamped_ = false;
}

}  // namespace advstep
