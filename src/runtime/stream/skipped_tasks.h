// SPDX-License-Identifier: Apache-2.0
// The tasks that a stream did not run, as far as it remembers them.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The latest tasks in a row that ended without having been run. Tasks that are still queued carry
/// the reason themselves (Task::skip). Plain data that the stream's lock guards.
class SkippedTasks {
 public:
    /// Adds a task that ends now. Sequences only grow.
    void Ended(uint64_t sequence, TaskSkip why) {
        if (upTo_ + 1 != sequence) {
            after_ = sequence - 1;
        }
        upTo_ = sequence;
        why_ = why;
    }

    /// Sets the code of the failure at which the stream stopped.
    void StoppedWith(int32_t code) { failure_ = code; }

    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence) const;

 private:
    uint64_t after_ = 0;
    uint64_t upTo_ = 0;
    TaskSkip why_ = TaskSkip::kNot;
    int32_t failure_ = 0;
};

}  // namespace advstep
