// SPDX-License-Identifier: Apache-2.0
// The time limit of a synchronisation.

#pragma once

#include <chrono>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

using WaitClock = std::chrono::steady_clock;

/// The time that a synchronisation may take. A `timed` one also leaves host functions and long work
/// to the workers, even if `until` never comes, unless there are none and it never comes.
struct WaitLimit {
    const char* what = "work";    // for the message of a wait that expires, static text
    const void* whose = nullptr;  // the handle of that stream, event or model; null: there is none
    bool timed = false;
    WaitClock::time_point until = WaitClock::time_point::max();
    int32_t expiredCode = 0;
    int32_t milliseconds = -1;   // as the caller gave it
    bool evenIfAborted = false;  // an abort of the work does not end the wait

    bool Expired() const {
        return until != WaitClock::time_point::max() && WaitClock::now() >= until;
    }
};

/// The limit's expiredCode, with a message that names what has not completed.
Status ExpiredError(const WaitLimit& limit);

/// The limit of a wait that takes as long as the work. It is a constant, so that no call makes it.
inline constexpr WaitLimit kNoLimit;

/// Returns the limit of a wait for work that must have ended: even an abort does not end the wait.
inline WaitLimit ToTheEnd() {
    WaitLimit limit;
    limit.evenIfAborted = true;
    return limit;
}

/// Makes a timed limit. -1: for ever. 107000: `milliseconds` is 0 or less than -1.
Status MakeWaitLimit(int32_t milliseconds, int32_t expiredCode, WaitLimit* limit);

}  // namespace advstep
