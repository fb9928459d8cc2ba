// SPDX-License-Identifier: Apache-2.0
// The questions that every folder of the runtime may ask about a place in a stream.
// src/runtime/stream answers them.

#pragma once

#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {

class Device;
class Stream;

/// A point in a stream. It is reached when the stream has completed `sequence` tasks. A stream
/// object counts on through all its lives, so a ticket of a destroyed stream has been reached.
struct Ticket {
    Stream* stream = nullptr;
    uint64_t sequence = 0;
};

bool Reached(const Ticket& ticket);

/// Runs and waits until the ticket's point is reached. 207000: the point needs the calling thread
/// itself, because it runs a host function of the stream or has to run a callback of it. 107023:
/// the ticket's stream is aborted meanwhile. The limit's expiredCode: the limit expires.
Status WaitFor(const Ticket& ticket, const WaitLimit& limit = {});

/// Returns true while the calling thread runs a task of any stream.
bool InsideTask();

/// Marks the thread as one that runs a task, until the end of the scope: a thread that helps
/// another one with its task.
class TaskScope {
 public:
    TaskScope() noexcept;
    ~TaskScope();
    TaskScope(const TaskScope&) = delete;
    TaskScope& operator=(const TaskScope&) = delete;
};

/// 207000: the calling thread runs a task.
Status RefuseInsideTask();

/// Where the work that is queued now and may use the device's memory ends, in each stream that has
/// some under way: everything on the streams of that device, and of the other streams what touches
/// memory of a device that is not their own. Null: all work, which may use pinned host memory.
std::vector<Ticket> PendingPlaces(const Device* device);

}  // namespace advstep
