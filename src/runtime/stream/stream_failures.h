// SPDX-License-Identifier: Apache-2.0
// The unreported failures of a stream.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The failures of a stream's tasks that have not been reported, in order, and whether the stream
/// refuses new work because of one. Plain data that the stream's lock guards.
class StreamFailures {
 public:
    /// Begins a life without failures. This call allocates the memory for the failures of the life.
    void Open();

    /// Keeps a failure. A stream keeps at most 16 unreported failures: the first 15 and the latest,
    /// which stands for those between, too.
    void Add(uint64_t sequence, Status status) noexcept;

    /// Returns the first failure of a task after `sequence` and up to `last`. The failures between
    /// are reported with it: all of them are removed.
    Status Take(uint64_t sequence, uint64_t last) {
        return failures_.empty() ? Status() : TakeFirst(sequence, last);
    }

    /// Returns whether all failures have been reported.
    bool empty() const { return failures_.empty(); }

    /// Refuses new work with the code and the message of the failure, until all failures are
    /// reported.
    void RefuseNewWork(const Status& failure) noexcept;
    /// Returns success while new work is accepted.
    const Status& refusal() const { return refusal_; }

    /// Writes the unreported failures to the log when the stream ends.
    void LogUnreported(Handle stream) const;

 private:
    static constexpr size_t kMostFailures = 16;

    struct Failure {
        uint64_t first;  // the tasks that failed, of which the status is the last one's
        uint64_t last;
        Status status;
    };

    Status TakeFirst(uint64_t sequence, uint64_t last);

    std::vector<Failure> failures_;  // never reallocated in a life
    Status refusal_;
};

}  // namespace advstep
