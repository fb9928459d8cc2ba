// SPDX-License-Identifier: Apache-2.0
// A stream as the reports of deadlocks and hangs see it.

#pragma once

#include <cstdint>

#include "src/runtime/stream/work_notes.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"
#include "src/runtime/task/wait_facts.h"

namespace advstep {

/// The state of a stream with unfinished work at one moment.
struct StreamView {
    enum class Front {
        kReady,   // it is run as soon as a thread comes, or what it waits for has come
        kRuns,    // the thread `claimant` runs it
        kTicket,  // it waits for `facts.place`
        kPoll,    // it waits for what `facts` tells
    };
    Stream* stream = nullptr;
    Handle handle = 0;
    bool hidden = false;  // of a model or a replay
    uint64_t issued = 0;
    uint64_t completed = 0;
    uint64_t claimant = 0;  // pthread_self() of the thread that runs it
    Front front = Front::kReady;
    const char* name = nullptr;  // of the oldest task; static text
    bool timed = false;          // its wait ends by itself after a while
    WaitFacts facts;
    bool noted = false;
    WorkNote note;  // of the oldest task, if it is noted
};

}  // namespace advstep
