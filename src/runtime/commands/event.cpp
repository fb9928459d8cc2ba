// SPDX-License-Identifier: Apache-2.0
// Implements records, waits, queries and resets of events.

#include "src/runtime/commands/event.h"

#include <chrono>
#include <new>
#include <thread>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/device/device.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/stream/sync_findings.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

struct Event::RecordTask : Task {
    Event* event;
    uint64_t recordNumber;
};

namespace {

struct EventTable : HandleTable<Event> {
    EventTable() : HandleTable(HandleKind::kEvent) {}
};

const ForkHook forgetWaitSeconds([](void*) noexcept { EventWaitSeconds().store(0); });

RetiredStates& TheRetiredStates() {
    static NeverDestroyed<RetiredStates> states;
    return *states;
}

// Makes captures refuse the events that can be queried or reset.
void RefuseOldEvent(EventKind kind, Work* work) {
    if (kind != EventKind::kCreateExWithFlag) {
        work->refusal = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
        work->refusalText =
            "the event is not of aclrtCreateEventExWithFlag; expected such an event";
    }
}

// Returns work that lists the event, which must be alive at a replay.
template <Use::Signal kSignal = Use::Signal::kNone>
Work EventWork(size_t recordBytes, Handle event, Work::Role role = Work::Role::kOther) {
    Work work(recordBytes);
    work.role = role;
    work.source = ToPointer(event);
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        uses->push_back({Use::Kind::kEvent, "event", source, 0});
        uses->back().signal = kSignal;
    };
    return work;
}

struct SettingTask : Task {
    EventSetting* setting;
};

struct SettingWaitTask : PollWaitTask {
    const EventSetting* setting;
};

WaitFacts ExplainSettingWait(const PollWaitTask& base) {
    WaitFacts facts;
    facts.giver = WaitGiver::kProcess;
    facts.holds = static_cast<const SettingWaitTask&>(base).setting->load() != 0;
    facts.text = "a record of its event, which is of ACL_EVENT_EXTERNAL";
    return facts;
}

constexpr TaskType kSettingWaitType = {nullptr, nullptr, kTouchesNothing.listMemory,
                                       nullptr, false,   &ExplainSettingWait};

// Makes a task that takes effect even if the work around it is dropped, as the records of other
// events do.
Task* MakeSettingTask(void* memory, const char* name, EventSetting* setting,
                      Status (*run)(const Task& task)) {
    auto* const task = new (memory) SettingTask;
    task->name = name;
    task->type = &kTouchesNothing;
    task->kind = TaskKind::kAlways;
    task->setting = setting;
    task->run = run;
    return task;
}

Status SetEvent(const Task& task) {
    static_cast<const SettingTask&>(task).setting->store(1);
    TheWorkers().Wake();  // waits for a setting are not woken by the progress of a stream
    return {};
}

Status UnsetEvent(const Task& task) {
    static_cast<const SettingTask&>(task).setting->store(0);
    return {};
}

}  // namespace

HandleTable<Event>& TheEvents() {
    static NeverDestroyed<EventTable> events;
    return *events;
}

std::atomic<uint32_t>& EventWaitSeconds() {
    static std::atomic<uint32_t> seconds{0};
    return seconds;
}

Status FindEvent(const void* handle, Event** event) {
    Event* const found = TheEvents().Find(ToHandle(handle));
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE, "event {} is no event; expected a live event",
                     handle);
    }
    *event = found;
    return {};
}

// The life of an event.

void Event::Open(Handle handle, const Traits& traits, std::unique_ptr<EventBoard> board,
                 std::unique_ptr<SharedState> setting, ResourceHold hold) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    hold_ = std::move(hold);
    board_ = std::move(board);
    boardNumber_ = 0;
    setting_ = std::move(setting);
    everRecorded_ = false;
    recordUsage_ = waitUsage_ = Usage::kNone;
    traits_ = traits;
    use_.Open(!traits.measures);
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
    hold_.GiveBack();
    use_.End(handle);
    handle_ = 0;
    ++recordNumber_;
    return {};
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
    hold_.GiveBack();
    use_.End(handle_);
    handle_ = 0;
    ++recordNumber_;
    return true;
}

void Event::ReclaimStates() noexcept { TheRetiredStates().Reclaim(); }

void Event::ReportUnused() {
    const std::lock_guard<std::mutex> lock(mutex_);
    use_.End(handle_);
}

Status Event::Check(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckAlive(handle);
}

std::shared_mutex& Event::Replaying() {
    static NeverDestroyed<std::shared_mutex> replaying;
    return *replaying;
}

bool Event::IsExternal(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handle_ == handle && setting_ != nullptr;
}

Status Event::CheckAlive(Handle handle) const {
    return handle_ == handle
               ? Status()
               : Error(ACL_ERROR_RT_INVALID_HANDLE,
                       "event {} is no event or has been destroyed; expected a live event",
                       ToPointer(handle));
}

// Retires the words that processes share, because queued waits and records still use them.
void Event::RetireStates() {
    if (board_ != nullptr) {
        TheRetiredStates().Add(&board_->State(), PendingPlaces(nullptr));
        board_.reset();
    }
    if (setting_ != nullptr) {
        TheRetiredStates().Add(&setting_, PendingPlaces(nullptr));
    }
}

// Records in streams, and the waits for them.

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
    ADVSTEP_RETURN_IF_ERROR(FixUsage(&recordUsage_, Usage::kInStream, "recorded"));
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
            task->type = &kTouchesNothing;
            task->run = &RunRecord;
            task->kind = TaskKind::kAlways;
            task->event = this;
            task->recordNumber = number;
            return task;
        },
        &ticket));
    // A thread that runs the record meanwhile waits for mutex_ and finds the new number.
    recordNumber_ = number;
    record_ = ticket;
    captured_ = place;
    reset_ = Ticket{};
    stamped_ = false;
    use_.Recorded(stream.handle, ticket, place);
    return {};
}

Status Event::WaitOn(Handle handle, const StreamRef& stream, int64_t timeoutNanoseconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    use_.Used();
    ADVSTEP_RETURN_IF_ERROR(FixUsage(&waitUsage_, Usage::kInStream, "waited for"));
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
    return record_.stream == nullptr || reset_.stream != nullptr
               ? WaitOnUnrecorded(stream)
               : WaitOnRecord(stream, timeoutNanoseconds);
}

Status Event::WaitOnUnrecorded(const StreamRef& stream) const {
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    Status free = stream.CheckFree();
    if (free.code() == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED) {
        return free;
    }
    if (traits_.kind == EventKind::kCreateExWithFlag) {
        return {};
    }
    if (!free.ok()) {
        Work work(0);
        RefuseOldEvent(traits_.kind, &work);
        return Error(work.refusal, "{} on a stream that is being captured", work.refusalText);
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID, "event {} is not recorded; expected a recorded event",
                 ToPointer(handle_));
}

Status Event::WaitOnRecord(const StreamRef& stream, int64_t timeoutNanoseconds) {
    Work work(sizeof(TicketWaitTask));
    work.role = Work::Role::kEventWait;
    RefuseOldEvent(traits_.kind, &work);
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
            task->type = &kTouchesNothing;
            return task;
        },
        &ticket));
    reset_ = ticket;
    return {};
}

Status Event::LatestRecord(Handle handle, Ticket* ticket) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(ToldInCapture(CheckNotCaptured()));
    use_.Used();
    *ticket = ResetHasRun() ? Ticket{} : record_;
    return {};
}

Status Event::Read(Handle handle, State* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(ToldInCapture(CheckNotCaptured()));
    use_.Used();
    state->kind = traits_.kind;
    state->shared = board_ != nullptr;
    state->timing = traits_.timing;
    state->recorded = record_.stream != nullptr && !ResetHasRun();
    state->complete = state->recorded && record_.stream->Reached(record_.sequence);
    if (SanitizingWork() && state->complete) {
        TheDeviceSanitizer().HostSees(record_.stream, record_.sequence);
    }
    if (board_ != nullptr) {
        state->recorded = board_->Latest() != 0;
        state->complete = board_->Complete(board_->Latest());
    }
    if (setting_ != nullptr) {
        state->recorded = state->complete = Setting()->load() != 0;
    }
    state->nanoseconds = nanoseconds_;
    state->stamped = stamped_;
    state->waitsPassed = waits_.AllPassed();
    return {};
}

Status Event::FixUsage(Usage* fixed, Usage usage, const char* what) const {
    if (*fixed == Usage::kNone) {
        *fixed = usage;
    }
    const bool external = *fixed == Usage::kInModel;
    return *fixed == usage ? Status()
                           : Error(ACL_ERROR_RT_PARAM_INVALID,
                                   "event {} has been {} {} flag EXTERNAL; expected the same flag "
                                   "in each call",
                                   ToPointer(handle_), what, external ? "with" : "without");
}

Status Event::CheckCanReset() const {
    return traits_.kind != EventKind::kCreateExWithFlag && traits_.waitable
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event {} cannot be reset; expected an event of aclrtCreateEvent, or of "
                       "aclrtCreateEventWithFlag with ACL_EVENT_SYNC",
                       ToPointer(handle_));
}

bool Event::ResetHasRun() const {
    return reset_.stream != nullptr && reset_.stream->Reached(reset_.sequence);
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

// Events of ACL_EVENT_IPC, whose records lie on a board.

Status Event::RecordShared(const StreamRef& stream) {
    uint64_t number = 0;
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(board_->Record(stream, &number, &ticket));
    record_ = ticket;
    boardNumber_ = number;
    return {};
}

Status Event::Export(Handle handle, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    if (board_ == nullptr || board_->State()->Imported()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "event {} is {}; expected one of aclrtCreateEventExWithFlag with "
                     "ACL_EVENT_IPC",
                     ToPointer(handle),
                     board_ == nullptr ? "not of ACL_EVENT_IPC" : "of aclrtIpcOpenEventHandle");
    }
    return board_->State()->Export(ShareKind::kEvent, true, key);
}

Status Event::SynchronizeShared(Handle handle, const WaitLimit& limit, bool* shared, Ticket* own) {
    constexpr std::chrono::microseconds kLook(100);
    uint64_t latest = 0;
    uint64_t aborts = 0;
    for (bool first = true;; first = false) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
            *shared = board_ != nullptr;
            if (!*shared) {
                return {};
            }
            const uint64_t abortsNow = traits_.device->abortsEver().load();
            aborts = first ? abortsNow : aborts;
            if (abortsNow != aborts) {
                return Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                             "the work of device {} was aborted during the wait for event {}; "
                             "expected no aclrtDeviceTaskAbort meanwhile",
                             traits_.device->id(), ToPointer(handle));
            }
            latest = latest != 0 ? latest : board_->Latest();
            if (latest == boardNumber_ && latest != 0) {
                *own = record_;  // the caller waits for it, and may run it
                return {};
            }
            if (board_->Complete(latest)) {
                return {};
            }
        }
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        if (limit.Expired()) {
            return ExpiredError(limit);
        }
        const NoCancellation noCancellation;
        std::this_thread::sleep_for(kLook);  // no process wakes threads of another one
    }
}

// Events of ACL_EVENT_EXTERNAL: tasks set and reset them, or wait until they are set.

Status Event::RecordExternal(const StreamRef& stream) {
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        EventWork<Use::Signal::kSets>(sizeof(SettingTask), handle_),
        [&](void* memory) { return MakeSettingTask(memory, "event record", Setting(), &SetEvent); },
        &ticket));
    everRecorded_ = true;
    if (ticket.stream != nullptr) {  // null: the record is a task of a capture
        record_ = ticket;
        reset_ = Ticket{};
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
        EventWork<Use::Signal::kAwaitsSet>(sizeof(SettingWaitTask), handle_),
        [&](void* memory) {
            auto* const task = new (memory) SettingWaitTask;
            task->name = "event wait";
            task->type = &kSettingWaitType;
            task->kind = TaskKind::kPollWait;
            task->timeoutNanoseconds = timeoutNanoseconds;
            task->setting = Setting();
            task->holds = [](PollWaitTask& base) {
                return static_cast<const SettingWaitTask&>(base).setting->load() != 0;
            };
            return task;
        },
        &wait));
    if (wait.stream != nullptr) {
        waits_.Add(wait);
    }
    return {};
}

Status Event::ResetExternal(const StreamRef& stream) {
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        EventWork<Use::Signal::kUnsets>(sizeof(SettingTask), handle_),
        [&](void* memory) {
            return MakeSettingTask(memory, "event reset", Setting(), &UnsetEvent);
        },
        &ticket));
    if (ticket.stream != nullptr) {
        reset_ = ticket;
    }
    return {};
}

// Records and waits of models.

Status Event::RecordInModel(Handle handle, const StreamRef& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    ADVSTEP_RETURN_IF_ERROR(FixUsage(&recordUsage_, Usage::kInModel, "recorded"));
    ADVSTEP_RETURN_IF_ERROR(CheckInModel(stream));
    return stream.Enqueue(EventWork(sizeof(RecordTask), handle, Work::Role::kModelRecord),
                          [&](void* memory) {
                              auto* const task = new (memory) RecordTask;
                              task->name = "event record";
                              task->type = &kTouchesNothing;
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
    use_.Used();
    ADVSTEP_RETURN_IF_ERROR(FixUsage(&waitUsage_, Usage::kInModel, "waited for"));
    ADVSTEP_RETURN_IF_ERROR(CheckInModel(stream));
    return stream.Enqueue(EventWork(sizeof(TicketWaitTask), handle, Work::Role::kModelWait),
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

Status Event::CheckInModel(const StreamRef& stream) const {
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

void ModelEvents::Add(const void* event) {
    Event* const found = TheEvents().Find(ToHandle(event));
    if (found != nullptr) {
        events_.emplace_back(found, ToHandle(event));
    }
}

Status ModelEvents::Lock() {
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

void ModelEvents::FillWait(const void* event, Stream* stream, TicketWaitTask* task) const {
    const Ticket& latest = TheEvents().Find(ToHandle(event))->record_;
    task->ticket = latest.stream != nullptr ? latest : Ticket{stream, 0};
}

void ModelEvents::FillRecord(const void* event, Task* task) const {
    static_cast<Event::RecordTask*>(task)->recordNumber =
        TheEvents().Find(ToHandle(event))->recordNumber_ + 1;
}

void ModelEvents::Recorded(const void* event, const Ticket& place) const {
    Event& recorded = *TheEvents().Find(ToHandle(event));
    ++recorded.recordNumber_;
    recorded.record_ = place;
    recorded.reset_ = Ticket{};
    recorded.captured_ = CapturePlace{};
    recorded.stamped_ = false;
}

}  // namespace advstep
