// SPDX-License-Identifier: Apache-2.0
// Event calls: create, record, wait, query, synchronise, and elapsed time.

#include <memory>
#include <utility>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr uint32_t kEventFlags =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
constexpr uint32_t kUnsupportedFlags = ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_IPC;

Status MakeEvent(const char* call, aclrtEvent* event, Event::Traits traits) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    traits.context = current.handle;
    traits.device = current.device;
    std::unique_ptr<EventBoard> board;
    std::unique_ptr<SharedState> setting;
    if (traits.shared) {
        ADVSTEP_RETURN_IF_ERROR(EventBoard::Make(&board));
    }
    if (traits.external) {
        ADVSTEP_RETURN_IF_ERROR(SharedState::Make(sizeof(EventSetting), &setting));
    }
    ResourceHold hold;
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(current.device, DeviceResource::kEvents,
                                               ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, &hold));
    const auto entry = TheEvents().Acquire();
    entry.object->Open(entry.handle, traits, std::move(board), std::move(setting), std::move(hold));
    *event = ToPointer(entry.handle);
    return NoteIfMade({}, ObjectKind::kEvent, call, event);
}

Status MakeEventWithFlag(const char* call, aclrtEvent* event, uint32_t flag, EventKind kind) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
    const bool withFlag = kind == EventKind::kCreateWithFlag;
    const uint32_t alone = withFlag ? ACL_EVENT_EXTERNAL : ACL_EVENT_IPC;  // without other bits
    if (flag != alone && (flag & (alone | ACL_EVENT_EXTERNAL)) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {:#x}; expected {} {:#x} alone, or only bits of {:#x}", flag,
                     withFlag ? "ACL_EVENT_EXTERNAL" : "ACL_EVENT_IPC", alone, kEventFlags);
    }
    if (flag != alone && (flag == 0 || (flag & ~(kEventFlags | kUnsupportedFlags)) != 0)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {:#x}; expected one or more of the ACL_EVENT_ bits {:#x}", flag,
                     kEventFlags);
    }
    if (flag != alone && (flag & kUnsupportedFlags) != 0) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "flag is {:#x}, with a bit that is not supported; expected only bits of {:#x}",
                     flag, kEventFlags);
    }
    Event::Traits traits;
    traits.kind = kind;
    traits.timing = (flag & ACL_EVENT_TIME_LINE) != 0;
    traits.measures = traits.timing;
    traits.shared = flag == ACL_EVENT_IPC;
    traits.external = flag == ACL_EVENT_EXTERNAL;
    traits.flag = flag;
    traits.waitable = !withFlag || traits.external || (flag & ACL_EVENT_SYNC) != 0;
    return MakeEvent(call, event, traits);
}

Status FindBoth(aclrtEvent event, aclrtStream stream, Event** found, StreamRef* target) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, target));
    return FindEvent(event, found);
}

// Finds the event and the stream and calls a member function of Event with them.
Status OnStream(aclrtEvent event, aclrtStream stream,
                Status (Event::*action)(Handle, const StreamRef&)) {
    Event* found = nullptr;
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
    return (found->*action)(ToHandle(event), target);
}

Status WaitForEvent(aclrtEvent event, aclrtStream stream, uint32_t seconds) {
    Event* found = nullptr;
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
    return found->WaitOn(ToHandle(event), target, seconds * kNanosecondsPerSecond);
}

Status Synchronize(aclrtEvent event, const WaitLimit& limit) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
    Event* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindEvent(event, &found));
    Ticket record;
    bool shared = false;
    ADVSTEP_RETURN_IF_ERROR(found->SynchronizeShared(ToHandle(event), limit, &shared, &record));
    if (!shared) {
        ADVSTEP_RETURN_IF_ERROR(found->LatestRecord(ToHandle(event), &record));
    }
    if (record.stream == nullptr) {
        return {};
    }
    Stream::WaitInList wait(record.stream, 0);
    return wait.WaitAndTakeFailure(record.sequence, limit);
}

Status ReadEvent(aclrtEvent event, const char* argument, Event::State* state) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, argument));
    Event* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindEvent(event, &found));
    return found->Read(ToHandle(event), state);
}

bool CountsAsComplete(const Event::State& state) {
    return state.recorded ? state.complete : state.kind == EventKind::kCreateExWithFlag;
}

Status RefuseExWithFlag(const Event::State& state, aclrtEvent event, const char* expected) {
    return state.kind != EventKind::kCreateExWithFlag
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "event {} is of aclrtCreateEventExWithFlag; expected {}", event, expected);
}

Status RefuseShared(const Event::State& state, const char* argument) {
    return !state.shared ? Status()
                         : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                 "{} is of ACL_EVENT_IPC; expected another event", argument);
}

Status CheckTimed(const Event::State& state, const char* argument) {
    ADVSTEP_RETURN_IF_ERROR(RefuseShared(state, argument));
    if (!state.recorded) {
        return Error(ACL_ERROR_RT_INTERNAL_ERROR, "{} is not recorded; expected a recorded event",
                     argument);
    }
    if (!state.timing) {
        return Error(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                     "{} was created without ACL_EVENT_TIME_LINE; expected an event with timing",
                     argument);
    }
    if (!state.complete || !state.stamped) {
        return Error(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                     "{} is not complete; expected a synchronisation before", argument);
    }
    return {};
}

Status CheckFlag(uint32_t flag) {
    return flag <= ACL_EVENT_RECORD_EXTERNAL
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM, "flag is {}; expected DEFAULT 0 or EXTERNAL 1",
                       flag);
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
    return AclBoundary("aclrtCreateEvent", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
        return MakeEvent("aclrtCreateEvent", event, Event::Traits{});
    });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
    static constexpr char kCall[] = "aclrtCreateEventWithFlag";
    return AclBoundary(
        kCall, [&] { return MakeEventWithFlag(kCall, event, flag, EventKind::kCreateWithFlag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
    static constexpr char kCall[] = "aclrtCreateEventExWithFlag";
    return AclBoundary(
        kCall, [&] { return MakeEventWithFlag(kCall, event, flag, EventKind::kCreateExWithFlag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    return AclBoundary("aclrtDestroyEvent", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
        Event* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindEvent(event, &found));
        ADVSTEP_RETURN_IF_ERROR(
            Freeing(ObjectKind::kEvent, event, [&] { return found->Close(ToHandle(event)); }));
        TheEvents().Release(found);
        return {};
    });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return AclBoundary("aclrtRecordEvent", [&] { return OnStream(event, stream, &Event::Record); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return AclBoundary("aclrtStreamWaitEvent", [&] {
        const uint32_t seconds = EventWaitSeconds().load(std::memory_order_relaxed);
        return WaitForEvent(event, stream, seconds);
    });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return AclBoundary("aclrtSynchronizeEvent", [&] { return Synchronize(event, kNoLimit); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return AclBoundary("aclrtSynchronizeEventWithTimeout", [&]() -> Status {
        WaitLimit limit{"event", event};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, &limit));
        return Synchronize(event, limit);
    });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    return AclBoundary("aclrtQueryEventStatus", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        Event::State state;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(event, "event", &state));
        *status = CountsAsComplete(state) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                          : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    return AclBoundary("aclrtQueryEvent", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        Event::State state;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(event, "event", &state));
        ADVSTEP_RETURN_IF_ERROR(RefuseExWithFlag(state, event, "aclrtQueryEventStatus for it"));
        *status = CountsAsComplete(state) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return AclBoundary("aclrtResetEvent", [&] { return OnStream(event, stream, &Event::Reset); });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    return AclBoundary("aclrtStreamWaitEventWithTimeout", [&]() -> Status {
        if (timeout < 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "timeout is {}; expected seconds, or 0 for ever", timeout);
        }
        return WaitForEvent(event, stream, static_cast<uint32_t>(timeout));
    });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
    return AclBoundary("aclrtSetOpWaitTimeout", [&]() -> Status {
        EventWaitSeconds().store(timeout, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    return AclBoundary("aclrtEventElapsedTime", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ms, "ms"));
        Event::State start;
        Event::State end;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(startEvent, "startEvent", &start));
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(endEvent, "endEvent", &end));
        ADVSTEP_RETURN_IF_ERROR(CheckTimed(start, "startEvent"));
        ADVSTEP_RETURN_IF_ERROR(CheckTimed(end, "endEvent"));
        constexpr double kNanosecondsPerMillisecond = 1e6;
        *ms = static_cast<float>(static_cast<double>(end.nanoseconds - start.nanoseconds) /
                                 kNanosecondsPerMillisecond);
        return {};
    });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
    return AclBoundary("aclrtEventGetTimestamp", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(timestamp, "timestamp"));
        Event::State state;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(event, "event", &state));
        ADVSTEP_RETURN_IF_ERROR(CheckTimed(state, "event"));
        constexpr int64_t kNanosecondsPerMicrosecond = 1000;
        *timestamp = static_cast<uint64_t>(state.nanoseconds / kNanosecondsPerMicrosecond);
        return {};
    });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
    return AclBoundary("aclrtQueryEventWaitStatus", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        Event::State state;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(event, "event", &state));
        ADVSTEP_RETURN_IF_ERROR(RefuseExWithFlag(state, event, "another kind of event"));
        *status =
            state.waitsPassed ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
    return AclBoundary("aclrtGetEventId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(eventId, "eventId"));
        Event::State state;
        ADVSTEP_RETURN_IF_ERROR(ReadEvent(event, "event", &state));
        ADVSTEP_RETURN_IF_ERROR(RefuseShared(state, "event"));
        *eventId = TheEvents().Find(ToHandle(event))->tableIndex;
        return {};
    });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
    return AclBoundary("aclrtRecordEventWithFlag", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckFlag(flag));
        Event* found = nullptr;
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
        return flag == ACL_EVENT_RECORD_EXTERNAL ? found->RecordInModel(ToHandle(event), target)
                                                 : found->Record(ToHandle(event), target);
    });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag) {
    return AclBoundary("aclrtStreamWaitEventWithFlag", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckFlag(flag));
        if (flag == ACL_EVENT_WAIT_EXTERNAL && timeout != 0) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "timeout is {} with flag EXTERNAL; expected 0, for ever", timeout);
        }
        Event* found = nullptr;
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
        return flag == ACL_EVENT_WAIT_EXTERNAL
                   ? found->WaitInModel(ToHandle(event), target)
                   : found->WaitOn(ToHandle(event), target, timeout * kNanosecondsPerSecond);
    });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
    return AclBoundary("aclrtGetEventAvailNum", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(eventCount, "eventCount"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        *eventCount = TheEvents().Available();
        return {};
    });
}
