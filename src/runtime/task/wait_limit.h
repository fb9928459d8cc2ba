#pragma once

#include <chrono>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

using WaitClock = std::chrono::steady_clock;

/// How long a synchronisation may take. One that is `timed` also leaves host functions and long
/// work to the workers, whatever `until` is.
struct WaitLimit {
    bool timed = false;
    WaitClock::time_point until = WaitClock::time_point::max();
    int32_t expiredCode = 0;
    int32_t milliseconds = -1;   // as the caller gave it
    bool evenIfAborted = false;  // the work has to have ended, whoever drops it meanwhile

    bool Expired() const {
        return until != WaitClock::time_point::max() && WaitClock::now() >= until;
    }
};

/// Until it has ended, also if an abort ends it: for what must not be under way any more.
inline WaitLimit ToTheEnd() {
    WaitLimit limit;
    limit.evenIfAborted = true;
    return limit;
}

/// -1 is for ever. 107000: 0 or less than -1.
Status MakeWaitLimit(int32_t milliseconds, int32_t expiredCode, WaitLimit* limit);

}  // namespace advstep
