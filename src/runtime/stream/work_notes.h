// SPDX-License-Identifier: Apache-2.0
// Who queued the tasks of a stream, while threads are watched.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>

#include "src/base/call_stack.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The call that queued some tasks in a row.
struct WorkNote {
    uint64_t first = 0;  // the sequences of the tasks
    uint64_t last = 0;
    pid_t thread = 0;
    WaitClock::time_point at;
    CallStack stack;
};

/// The notes of a stream's unfinished tasks. The stream's lock guards them.
class WorkNotes {
 public:
    /// Notes the calling thread, and forgets the tasks up to `completed`. Without memory it notes
    /// nothing.
    void Add(uint64_t first, uint64_t last, uint64_t completed) noexcept;

    /// Returns the note of a task, or null.
    const WorkNote* Find(uint64_t sequence) const;

 private:
    std::deque<WorkNote> notes_;  // by sequence
};

}  // namespace advstep
