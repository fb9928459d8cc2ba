#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

class TraceArgs;

enum class TaskKind : uint8_t {
    kPlain,         // kernels, copies: ends by itself
    kHostFunction,  // the user's code: may block for as long as it likes
    kTicketWait,    // a TicketWaitTask: ends when its ticket is reached; never run
    kPollWait,      // a PollWaitTask: ends when its condition holds
    kAlways,        // a mark: runs even where failed or dropped work is skipped
};

/// Under which heading the trace shows a task. A host function and a wait are known by their kind.
enum class TaskCategory : uint8_t { kMark, kKernel, kMemory };

/// Head of a queued record; what `run` needs follows it, as the members of a derived struct. Plain
/// data: copied as bytes, never destroyed.
struct Task {
    Status (*run)(const Task& task) = nullptr;
    const char* name = nullptr;  // static text, for people
    TaskKind kind = TaskKind::kPlain;
    bool heavy = false;  // takes longer than waking a thread (about 30 us)
    bool brief = false;  // takes a few us, and no lock that is held while a stream's is taken:
                         // whoever waits for it may keep the stream's lock
    TaskCategory category = TaskCategory::kMark;
    uint32_t bytes = 0;  // of the whole record, a multiple of kTaskAlignment
    /// Adds what the trace shows of the task beside its name; null: nothing.
    void (*describe)(const Task& task, TraceArgs* args) = nullptr;
};

inline constexpr size_t kTaskAlignment = 16;

constexpr size_t AlignedTaskBytes(size_t bytes) {
    return (bytes + kTaskAlignment - 1) / kTaskAlignment * kTaskAlignment;
}

/// The time starts when the wait has become the oldest task of its stream. An expired wait is a
/// task that failed with 107019.
struct WaitTask : Task {
    int64_t timeoutNanoseconds = 0;  // 0: for ever
};

struct TicketWaitTask : WaitTask {
    Ticket ticket;
};

/// Waits for something that is no place in a stream. Whoever makes it true wakes the workers; where
/// that can be anybody, `recheck` makes them look again and again.
struct PollWaitTask : WaitTask {
    /// Asked under the stream's lock, so it must not take one that is held while a stream's is
    /// taken. Not asked again once it has said true: it may consume what it found. Then `run`, if
    /// there is one, says how it went.
    bool (*holds)(PollWaitTask& task) = nullptr;
    bool recheck = false;
    uint64_t thread = 0;  // pthread_self() of the one that can make it true; 0: anybody
};

}  // namespace advstep
