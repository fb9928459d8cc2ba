// SPDX-License-Identifier: Apache-2.0
// A wait that a replay adds to the captured tasks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "src/runtime/task/task.h"

namespace advstep {

inline constexpr size_t kReplayWaitBytes = AlignedTaskBytes(sizeof(TicketWaitTask));

/// Makes a wait that the program did not queue, so aclrtStreamStop does not end it.
inline void MakeReplayWait(void* memory, const char* name, const Ticket& ticket) {
    auto* const wait = new (memory) TicketWaitTask;
    wait->name = name;
    wait->kind = TaskKind::kTicketWait;
    wait->bytes = static_cast<uint32_t>(kReplayWaitBytes);
    wait->ticket = ticket;
    wait->stays = true;
}

}  // namespace advstep
