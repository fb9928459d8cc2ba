// SPDX-License-Identifier: Apache-2.0
// What a task that waits for a condition needs, as it can tell without a change.

#pragma once

#include <cstdint>
#include <string>

#include "src/runtime/task/ticket.h"

namespace advstep {

/// Who can make the condition of a PollWaitTask true.
enum class WaitGiver : uint8_t {
    kUnknown,  // also another process, or nobody can tell
    kProcess,  // queued work or a thread of this process
    kThread,   // the thread `thread` alone
    kPlace,    // whoever lets `place` be reached
};

/// The state of a wait. `text` is what it waits for, as in "waits for <text>".
struct WaitFacts {
    WaitGiver giver = WaitGiver::kUnknown;
    bool holds = false;   // the condition holds, and nobody has looked yet
    uint64_t thread = 0;  // pthread_self() of kThread
    Ticket place;         // of kPlace
    std::string text;
};

}  // namespace advstep
