// SPDX-License-Identifier: Apache-2.0
// The records of an event that several processes have.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "src/base/status.h"
#include "src/runtime/memory/shared_state.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// The records of an event of ACL_EVENT_IPC, in memory that every process with the event maps. Each
/// record has a number, and a slot that says whether it is complete. The processes share words
/// without a lock, so a process that is killed leaves nothing locked. Its records that have not run
/// never complete.
class EventBoard {
 public:
    /// The bytes of the state, all 0 at first. Processes of other builds must see the same layout.
    struct Words;

    static Status Make(std::unique_ptr<EventBoard>* board);
    static Status Import(const ShareKey& key, std::unique_ptr<EventBoard>* board);

    /// Queues a record, which becomes the latest one. 207001: kMostRecords are under way.
    Status Record(const StreamRef& stream, uint64_t* number, Ticket* ticket);
    /// Queues a wait for the record.
    Status WaitOn(const StreamRef& stream, uint64_t number, int64_t timeoutNanoseconds) const;
    /// Checks the stream of a wait that has no record to wait for. 207000: it is being captured.
    static Status CheckUncaptured(const StreamRef& stream);
    /// Returns the number of the latest record; 0: there is none.
    uint64_t Latest() const;
    bool Complete(uint64_t number) const;

    /// The owner of the words. A board without them can only be destroyed.
    std::unique_ptr<SharedState>& State() { return state_; }

    static constexpr uint64_t kMostRecords = 120;

 private:
    explicit EventBoard(std::unique_ptr<SharedState> state) : state_(std::move(state)) {}
    /// Takes a number for a record, and the slot of that number.
    Status TakeSlot(uint64_t* number, std::atomic<uint64_t>** slot);
    Words* Get() const { return static_cast<Words*>(state_->Get()); }

    std::unique_ptr<SharedState> state_;
};

}  // namespace advstep
