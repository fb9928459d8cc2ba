// SPDX-License-Identifier: Apache-2.0
// Looks at the wait at the front of a stream.
#include "src/runtime/stream/front_wait.h"

#include <algorithm>
#include <chrono>

namespace advstep {
namespace {

// The interval at which a sleeping worker checks a condition that no thread announces.
constexpr auto kRecheck = std::chrono::milliseconds(1);

}  // namespace

FrontObstacle FrontWait::Look(WaitTask* wait, uint64_t sequence, WaitClock::time_point* again) {
    FrontObstacle obstacle;
    bool over = false;
    bool recheck = false;
    if (wait->kind == TaskKind::kTicketWait) {
        obstacle.kind = FrontObstacle::Kind::kTicket;
        obstacle.ticket = static_cast<const TicketWaitTask*>(wait)->ticket;
        over = Reached(obstacle.ticket);
    } else {
        auto& poll = static_cast<PollWaitTask&>(*wait);
        obstacle.kind = FrontObstacle::Kind::kPoll;
        over = poll.holds(poll);
        obstacle.thread = poll.thread;
        if (!over && poll.place != nullptr) {
            obstacle.ticket = poll.place(poll);
        }
        recheck = poll.recheck;
    }
    if (over) {
        over_ = sequence;
        expired_ = false;
        return {};
    }
    if (!recheck && wait->timeoutNanoseconds == 0) {
        return obstacle;
    }
    const WaitClock::time_point now = WaitClock::now();
    if (wait->timeoutNanoseconds > 0) {
        if (timed_ != sequence) {
            timed_ = sequence;
            deadline_ = now + std::chrono::nanoseconds(wait->timeoutNanoseconds);
        }
        if (now >= deadline_) {
            over_ = sequence;
            expired_ = true;
            return {};
        }
        *again = std::min(*again, deadline_);
    }
    if (recheck) {
        *again = std::min(*again, now + kRecheck);
    }
    return obstacle;
}

}  // namespace advstep
