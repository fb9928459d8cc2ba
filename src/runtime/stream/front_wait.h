// SPDX-License-Identifier: Apache-2.0
// A wait at the front of a stream: whether it is over, and until when it may last.

#pragma once

#include <cstdint>

#include "src/runtime/task/task.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The reason why a stream's front task is not run.
struct FrontObstacle {
    enum class Kind {
        kNone,
        kTicket,  // it waits for another stream
        kPoll,    // it waits for a condition
        kLeft,    // it is left to a thread that may take longer
    };
    Kind kind = Kind::kNone;
    Ticket ticket;        // of kTicket; of kPoll if there is a place without which it does not end
    uint64_t thread = 0;  // pthread_self() of the thread that has to act; 0: any
    uint64_t front = 0;   // the sequence of the front
};

/// The state of a stream's front task while that is a wait: whether the wait is over, and its
/// deadline. Plain data that the stream's lock guards. Every answer concerns one sequence.
class FrontWait {
 public:
    /// Returns whether the wait has been found to be over.
    bool Over(uint64_t sequence) const { return over_ == sequence; }
    /// Returns whether the wait ended by its timeout.
    bool Expired(uint64_t sequence) const { return over_ == sequence && expired_; }

    /// Checks a wait that is not known to be over. If it is not over, returns its obstacle, and
    /// lowers *again to the time of the next check if a time is known.
    FrontObstacle Look(WaitTask* wait, uint64_t sequence, WaitClock::time_point* again);

 private:
    uint64_t over_ = 0;
    bool expired_ = false;
    uint64_t timed_ = 0;  // the sequence of the wait that deadline_ is for
    WaitClock::time_point deadline_;
};

}  // namespace advstep
