#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

class Stream;

/// A point in a stream: reached when the stream has completed that many tasks. Streams count on
/// through all their lives, so a ticket of a destroyed stream is one that has been reached.
struct Ticket {
    Stream* stream = nullptr;
    uint64_t sequence = 0;
};

enum class TaskKind : uint8_t {
    kPlain,         // kernels, copies: ends by itself
    kHostFunction,  // the user's code: may block for as long as it likes
    kEventWait,     // ends when its ticket is reached; never run
    kEventRecord,   // runs even where failed or dropped work is skipped
};

/// Head of a queued record; what `run` needs follows it, as the members of a derived struct. Plain
/// data: copied as bytes, never destroyed.
struct Task {
    Status (*run)(const Task& task) = nullptr;
    TaskKind kind = TaskKind::kPlain;
    bool heavy = false;  // takes longer than waking a thread (about 30 us)
    uint32_t bytes = 0;  // of the whole record, a multiple of kTaskAlignment
};

inline constexpr size_t kTaskAlignment = 16;

struct EventWaitTask : Task {
    Ticket ticket;
};

}  // namespace advstep
