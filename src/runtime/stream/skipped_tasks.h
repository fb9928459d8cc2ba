// SPDX-License-Identifier: Apache-2.0
// The interval of tasks that a stream does not run.

#pragma once

#include <algorithm>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

/// The latest tasks of a stream that are skipped: those after sequence `after` and up to `upTo`,
/// and the reason. Plain data that the stream's lock guards.
struct SkippedTasks {
    uint64_t after = 0;
    uint64_t upTo = 0;
    int32_t code = 0;  // the code of the failure; 107017: destroyed; 107023: aborted

    bool Contains(uint64_t sequence) const { return sequence > after && sequence <= upTo; }

    /// Adds tasks. CheckRan still counts the tasks that were skipped just before.
    void Add(uint64_t newAfter, uint64_t newUpTo, int32_t newCode) {
        after = upTo >= newAfter ? std::min(after, newAfter) : newAfter;
        upTo = std::max(upTo, newUpTo);
        code = newCode;
    }

    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence) const;
};

}  // namespace advstep
