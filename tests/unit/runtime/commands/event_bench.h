// SPDX-License-Identifier: Apache-2.0
// An event and two streams that record it and wait for it.
#ifndef ADVANCE_STEP_TESTS_UNIT_RUNTIME_COMMANDS_EVENT_BENCH_H_
#define ADVANCE_STEP_TESTS_UNIT_RUNTIME_COMMANDS_EVENT_BENCH_H_

#include "src/runtime/commands/event.h"
#include "unit/runtime/stream/two_streams.h"
#include "unit/status_check.h"

namespace advstep {

inline constexpr Handle kEvent = 0x1E3;

class EventUnitTest : public unit::TwoStreamsTest {
 protected:
    void Open(EventKind kind, bool waitable = true) {
        Event::Traits traits;
        traits.kind = kind;
        traits.waitable = waitable;
        event_.Open(kEvent, traits);
    }
    Status Record(unit::StreamBench* stream) { return event_.Record(kEvent, stream->Ref()); }
    Status WaitOn(unit::StreamBench* stream) { return event_.WaitOn(kEvent, stream->Ref()); }
    Status Reset(unit::StreamBench* stream) { return event_.Reset(kEvent, stream->Ref()); }
    Event::State Read() {
        Event::State state;
        EXPECT_TRUE(unit::Succeeds(event_.Read(kEvent, &state)));
        return state;
    }

    Event event_;
};

}  // namespace advstep

#endif  // ADVANCE_STEP_TESTS_UNIT_RUNTIME_COMMANDS_EVENT_BENCH_H_
