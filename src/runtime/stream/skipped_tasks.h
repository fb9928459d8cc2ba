// SPDX-License-Identifier: Apache-2.0
// The tasks that a stream did not run, as far as it remembers them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// Why a task was not run.
struct SkipReason {
    TaskSkip why = TaskSkip::kNot;
    int32_t failure = 0;  // the code of the failure at which the stream stopped

    /// Returns the code for which the task was skipped, or success for kNot.
    Status Word() const;

    bool operator==(const SkipReason& other) const {
        return why == other.why && failure == other.failure;
    }
};

/// The latest tasks in a row that ended without having been run, each with its own reason: a
/// model's stream may skip the tasks of several replays, for different reasons, before the first of
/// them is asked about. Tasks that are still queued carry the reason themselves (Task::skip). Plain
/// data that the stream's lock guards. Nothing is allocated, because the end of a task cannot fail.
class SkippedTasks {
 public:
    /// Adds a task that ends now, and returns its reason. Sequences only grow.
    SkipReason Ended(uint64_t sequence, TaskSkip why) {
        const SkipReason reason{why, why == TaskSkip::kStopped ? failure_ : 0};
        if (upTo_ + 1 != sequence) {
            after_ = sequence - 1;
            count_ = 0;
        }
        upTo_ = sequence;
        if (count_ == 0 || (count_ < kMostParts && !(parts_[count_ - 1].reason == reason))) {
            parts_[count_] = {sequence, reason};
            ++count_;
        }
        return reason;
    }

    /// Sets the code of the failure at which the stream stopped.
    void StoppedWith(int32_t code) { failure_ = code; }

    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence) const;

 private:
    // Beyond as many changes of the reason in a row, later tasks are told the reason of the last.
    static constexpr size_t kMostParts = 8;

    struct Part {
        uint64_t first = 0;  // the tasks from this one up to the next part
        SkipReason reason;
    };

    uint64_t after_ = 0;
    uint64_t upTo_ = 0;
    std::array<Part, kMostParts> parts_;
    size_t count_ = 0;
    int32_t failure_ = 0;
};

}  // namespace advstep
