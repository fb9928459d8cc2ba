// SPDX-License-Identifier: Apache-2.0
// One call each: synchronisations and queries.
#include <fmt/core.h>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::SynchronizeStream(int thread, Slot slot) {
    Slot found = kNull;
    const bool finds = model_.FindStream(thread, slot, &found) == 0;
    if (finds && model_.streams.at(found).alive) {
        const Clock clock = model_.streams.at(found).clock;
        const int check = model_.CheckFree(thread, slot);
        if (check == 0 && model_.Blocked(clock) && Chance(25)) {
            Emit(thread, {ACL_ERROR_RT_STREAM_SYNC_TIMEOUT},
                 fmt::format("aclrtSynchronizeStreamWithTimeout(#{}, 1)", slot),
                 [=](World& world) { return aclrtSynchronizeStreamWithTimeout(world[slot], 1); });
            return;
        }
        if (check == 0) {
            Release(clock);
        }
    }
    const int code = model_.SynchronizeStream(thread, slot);
    if (Chance(20)) {
        Emit(thread, {code}, fmt::format("aclrtSynchronizeStreamWithTimeout(#{}, -1)", slot),
             [=](World& world) { return aclrtSynchronizeStreamWithTimeout(world[slot], -1); });
    } else {
        Emit(thread, {code}, fmt::format("aclrtSynchronizeStream(#{})", slot),
             [=](World& world) { return aclrtSynchronizeStream(world[slot]); });
    }
    EmitCheck();
}

void ProgramGenerator::SynchronizeEvent(int thread, Slot event) {
    if (model_.ReadEvent(event) == 0) {
        const ModelEvent& entry = model_.events.at(event);
        bool certain = false;
        const bool waits = model_.CountsAsRecorded(entry, &certain);
        if (waits && certain && model_.CertainlyPending(entry) && Chance(25)) {
            Emit(thread, {ACL_ERROR_RT_EVENT_SYNC_TIMEOUT},
                 fmt::format("aclrtSynchronizeEventWithTimeout(#{}, 1)", event),
                 [=](World& world) { return aclrtSynchronizeEventWithTimeout(world[event], 1); });
            return;
        }
        if (!certain) {
            return;  // whether the reset has run decides what is waited for
        }
        if (waits) {
            Release(model_.events.at(event).clock);
        }
    }
    bool perhaps = false;
    const int code = model_.SynchronizeEvent(event, &perhaps);
    Codes codes = {code};
    if (perhaps) {
        codes.push_back(0);  // the stream is gone, and what it had to tell may be as well
    }
    Emit(thread, codes, fmt::format("aclrtSynchronizeEvent(#{})", event),
         [=](World& world) { return aclrtSynchronizeEvent(world[event]); });
    EmitCheck();
}

void ProgramGenerator::SynchronizeDevice(int thread) {
    bool captured = false;
    for (const ModelCapture& capture : model_.captures) {
        captured = captured || !capture.over;
    }
    if (model_.CheckContext(thread) == 0 && !captured) {
        Clock clock;
        for (const auto& [slot, stream] : model_.streams) {
            if (stream.alive) {
                clock.Join(stream.clock);
            }
        }
        if (model_.Blocked(clock) && Chance(25)) {
            Emit(thread, {ACL_ERROR_RT_STREAM_SYNC_TIMEOUT}, "aclrtSynchronizeDeviceWithTimeout(1)",
                 [](World&) { return aclrtSynchronizeDeviceWithTimeout(1); });
            return;
        }
        Release(clock);
    }
    const int code = model_.SynchronizeDevice(thread);
    Emit(thread, {code}, "aclrtSynchronizeDevice()",
         [](World&) { return aclrtSynchronizeDevice(); });
    EmitCheck();
}

void ProgramGenerator::QueryStream(int thread, Slot slot) {
    const int code = model_.CheckFree(thread, slot);
    bool mayBeComplete = true;
    bool mayBePending = true;
    if (code == 0) {
        Slot found = kNull;
        (void)model_.FindStream(thread, slot, &found);
        const ModelStream& stream = model_.streams.at(found);
        mayBePending = !model_.host.Covers({stream.lane, stream.issued});
        mayBeComplete = !model_.Blocked(stream.clock);
    }
    Emit(thread, {code}, fmt::format("aclrtStreamQuery(#{})", slot), [=](World& world) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        const int got = aclrtStreamQuery(world[slot], &status);
        const bool right = got != 0 ? status == ACL_STREAM_STATUS_RESERVED
                           : status == ACL_STREAM_STATUS_COMPLETE  ? mayBeComplete
                           : status == ACL_STREAM_STATUS_NOT_READY ? mayBePending
                                                                   : false;
        if (!right) {
            world.Complain(fmt::format("the status is {}", static_cast<int>(status)));
        }
        return got;
    });
}

void ProgramGenerator::QueryEvent(int thread, Slot slot) {
    const int code = model_.ReadEvent(slot);
    bool mayBeComplete = true;
    bool mayBePending = true;
    int oldCode = code;
    if (code == 0) {
        const ModelEvent& event = model_.events.at(slot);
        const bool unrecordedComplete = event.kind == EventKind::kExWithFlag;
        oldCode = unrecordedComplete ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : 0;
        bool certain = false;
        if (model_.CountsAsRecorded(event, &certain)) {
            mayBePending = !certain || !model_.CertainlyComplete(event);
            mayBeComplete = !model_.CertainlyPending(event);
        } else {
            mayBePending = !unrecordedComplete;
            mayBeComplete = unrecordedComplete;
        }
    }
    const auto judge = [=](World& world, bool complete) {
        if (!(complete ? mayBeComplete : mayBePending)) {
            world.Complain(
                fmt::format("the event counts as {}", complete ? "complete" : "pending"));
        }
    };
    if (Chance(70)) {
        Emit(thread, {code}, fmt::format("aclrtQueryEventStatus(#{})", slot), [=](World& world) {
            aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
            const int got = aclrtQueryEventStatus(world[slot], &status);
            if (got == 0) {
                judge(world, status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
            }
            return got;
        });
        return;
    }
    Emit(thread, {oldCode}, fmt::format("aclrtQueryEvent(#{})", slot), [=](World& world) {
        aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
        const int got = aclrtQueryEvent(world[slot], &status);
        if (got == 0) {
            judge(world, status == ACL_EVENT_STATUS_COMPLETE);
        } else if (status != ACL_EVENT_STATUS_RESERVED) {
            world.Complain("the status was written");
        }
        return got;
    });
}

void ProgramGenerator::ElapsedTime(int thread, Slot first, Slot second) {
    Codes codes;
    for (const Slot slot : {first, second}) {
        codes = codes.empty() || codes[0] == 0 ? Codes{model_.ReadEvent(slot)} : codes;
    }
    for (const Slot slot : {first, second}) {
        if (codes[0] != 0) {
            break;
        }
        const ModelEvent& event = model_.events.at(slot);
        bool certain = false;
        if (!model_.CountsAsRecorded(event, &certain)) {
            codes = {ACL_ERROR_RT_INTERNAL_ERROR};
        } else if (!certain) {
            return;
        } else if (!event.timing || model_.CertainlyPending(event)) {
            codes = {ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID};
        } else if (!model_.CertainlyComplete(event)) {
            return;  // it may be either, and so may be the code
        }
    }
    Emit(thread, codes, fmt::format("aclrtEventElapsedTime(#{}, #{})", first, second),
         [=](World& world) {
             float ms = 0;
             return aclrtEventElapsedTime(&ms, world[first], world[second]);
         });
}

}  // namespace stress
