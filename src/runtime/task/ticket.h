// What every folder of the runtime may ask of a place in a stream. src/runtime/stream answers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {

class Device;
class Stream;

/// A point in a stream: reached when the stream has completed that many tasks. Streams count on
/// through all their lives, so a ticket of a destroyed stream is one that has been reached.
struct Ticket {
    Stream* stream = nullptr;
    uint64_t sequence = 0;
};

bool Reached(const Ticket& ticket);

/// Runs and waits until the ticket's point is reached. 207000: that needs a task which the calling
/// thread itself is in the middle of (a host function that waits for its own stream); 107023: the
/// ticket's stream is aborted meanwhile; the limit's code when the limit expires.
Status WaitFor(const Ticket& ticket, const WaitLimit& limit = {});

/// True while the thread runs a task (of any stream).
bool InsideTask();

/// 207000: the thread is in the middle of a task.
Status RefuseInsideTask();

/// Where the work that is queued now and may use the device's memory ends, in each stream that has
/// some under way: everything on the streams of that device, and of the other streams what touches
/// memory of a device that is not their own. Null: all work, which may use pinned host memory.
std::vector<Ticket> PendingPlaces(const Device* device);

}  // namespace advstep
