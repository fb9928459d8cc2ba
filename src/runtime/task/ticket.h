// SPDX-License-Identifier: Apache-2.0
// Places in streams, the limits of waits for them, and the questions that every folder of the
// runtime may ask about them. src/runtime/stream answers the questions.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace advstep {

class Device;
class Stream;
class TouchedMemory;

/// A point in a stream. It is reached when the stream has completed `sequence` tasks. A stream
/// object counts on through all its lives, so a ticket of a destroyed stream has been reached.
struct Ticket {
    Stream* stream = nullptr;
    uint64_t sequence = 0;
};

bool Reached(const Ticket& ticket);

using WaitClock = std::chrono::steady_clock;

/// The time that a synchronisation may take. A `timed` one also leaves host functions and long work
/// to the workers, even if `until` never comes, unless there are none and it never comes.
struct WaitLimit {
    const char* what = "work";    // for the message of a wait that expires, static text
    const void* whose = nullptr;  // the handle of that stream, event or model; null: there is none
    bool timed = false;
    WaitClock::time_point until = WaitClock::time_point::max();
    int32_t expiredCode = 0;
    int32_t milliseconds = -1;   // as the caller gave it
    bool evenIfAborted = false;  // an abort of the work does not end the wait
    bool ofProgram = true;       // the program asks for the wait; false: a device would not wait

    bool Expired() const {
        return until != WaitClock::time_point::max() && WaitClock::now() >= until;
    }
};

/// The limit of a wait that takes as long as the work. It is a constant, so that no call makes it.
inline constexpr WaitLimit kNoLimit;

/// Returns the limit of a wait for work that must have ended: even an abort does not end the wait.
inline WaitLimit ToTheEnd() {
    WaitLimit limit;
    limit.evenIfAborted = true;
    return limit;
}

/// The same for a wait that only the emulation needs: the sanitizer does not take it for a
/// synchronisation.
inline WaitLimit ToTheEndUnseen() {
    WaitLimit limit = ToTheEnd();
    limit.ofProgram = false;
    return limit;
}

/// Makes a timed limit. -1: for ever. 107000: `milliseconds` is 0 or less than -1.
Status MakeWaitLimit(int32_t milliseconds, int32_t expiredCode, WaitLimit* limit);

/// Returns the limit's expiredCode, with a message that names what has not completed.
Status ExpiredError(const WaitLimit& limit);

/// Waits until the ticket's point is reached, and runs the tasks before it if no other thread does.
/// 207000: the point needs the calling thread itself, which runs a host function of the stream or
/// has to run a callback for it. 107023, 107022: the work of the ticket's stream is aborted
/// meanwhile, or that of its device. The limit's expiredCode: the limit expires.
Status WaitFor(const Ticket& ticket, const WaitLimit& limit = kNoLimit);

/// Returns true while the calling thread runs a task of any stream.
bool InsideTask();

/// Returns whether the calling thread runs a task that ends before one of the places is reached, or
/// a part of such a task in another stream. That place stays unreached until the task has ended.
bool InsideTaskBefore(const std::vector<Ticket>& places);

/// Marks the calling thread as one that runs a task, until the end of the scope. It is for a thread
/// that helps another one with its task.
class TaskScope {
 public:
    TaskScope() noexcept;
    ~TaskScope();
    TaskScope(const TaskScope&) = delete;
    TaskScope& operator=(const TaskScope&) = delete;
};

/// 207000: the calling thread runs a task.
Status RefuseInsideTask();

/// Returns a ticket for each stream with unfinished work that may use the device's memory. The
/// ticket is the end of that work as it is queued now. All work of the device's own streams counts,
/// and so does work of other streams that touches memory of a device other than their own. Null:
/// the work of all streams counts, because it may use pinned host memory.
std::vector<Ticket> PendingPlaces(const Device* device);

/// Tells the memory that the unfinished tasks up to the place may touch. It takes the stream's
/// lock.
void ListPendingMemory(const Ticket& place, TouchedMemory* touched);

/// Returns "stream 0x.." for a message, or what has the stream if callers do not know it. It takes
/// the stream's lock.
std::string NameOfStream(const Ticket& place);

}  // namespace advstep
