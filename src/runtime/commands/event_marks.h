// SPDX-License-Identifier: Apache-2.0
// Events through which a captured graph and streams outside it wait for each other.

#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/task/task.h"

namespace advstep {

struct Event::RecordTask : Task {
    Event* event;
    uint64_t recordNumber;
};

/// The events of a graph while one of its replays is queued. They are locked, so that no other
/// record of an event comes between the queueing of its record and Recorded. Events are locked in
/// the order of their addresses, so that two replays cannot wait for each other, and before any
/// stream.
class EventMarks {
 public:
    /// Adds an event. It is called before Lock.
    void Add(const void* event);
    /// 107017: an event has been destroyed.
    Status Lock();
    bool Any() const { return !events_.empty(); }

    /// Makes the task wait for the event's latest record. `stream`: any stream, for an event that
    /// has no record to wait for.
    void FillWait(const void* event, Stream* stream, TicketWaitTask* task) const;
    void FillRecord(const void* event, Task* task) const;
    /// Makes the filled record the event's latest one, after it has been queued.
    void Recorded(const void* event, const Ticket& place) const;

 private:
    std::vector<std::pair<Event*, Handle>> events_;
    std::vector<std::unique_lock<std::mutex>> locks_;
};

}  // namespace advstep
