// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator meet: a root listens, each rank tells it where it listens itself,
// and gets the list of all.

#pragma once

#include <cstdint>
#include <string>

#include "src/hccl/group.h"
#include "src/hccl/settings.h"

namespace advstep::hccl {

/// Where the ranks meet, and what shows that they belong together.
struct MeetingPlace {
    Endpoint endpoint;
    GroupKey key{};
};

/// Starts a thread that listens at the place, and ends when the ranks of one group have met or when
/// the time is over. A port of 0 becomes the one that was free. HCCL_E_TCP_CONNECT: it cannot
/// listen there. HCCL_E_SYSCALL: there is no thread to be had.
Outcome OpenMeeting(const Settings& settings, MeetingPlace* place);

/// A rank that comes to the meeting.
struct Newcomer {
    uint32_t ranks = 1;
    uint32_t rank = 0;
    std::string name;          // of the communicator; "": one is made of the key
    bool waitForRoot = false;  // the root may come later
};

/// Joins the meeting: opens the socket at which the rank listens, and waits for all ranks.
/// HCCL_E_PARA: ranks contradict each other. HCCL_E_TIMEOUT: some are missing, which the message
/// names. HCCL_E_TCP_CONNECT: nobody listens.
Outcome Join(const Settings& settings, const MeetingPlace& place, const Newcomer& newcomer,
             Group* group, Socket* listener);

}  // namespace advstep::hccl
