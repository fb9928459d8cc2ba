// SPDX-License-Identifier: Apache-2.0
// The interface through which a stream hands its work to a recorder instead of its own queue. The
// recorder is a capture, or the update of a task group.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Recorder;

/// A resource that work uses when it runs, and that may be gone by the time of a replay.
struct Use {
    enum class Kind : uint8_t { kMemory, kNotify, kEvent, kFunction };
    /// How the work uses memory.
    enum class Access : uint8_t { kUnknown, kReads, kWrites, kReadsAndWrites };
    /// How the work and other streams wait for each other by it. A word is memory.
    enum class Signal : uint8_t { kNone, kSets, kTakes, kAwaitsSet, kUnsets, kWrites, kAwaitsWord };
    /// The bytes of memory that are used, as `rows` runs that begin `stride` bytes apart. No rows:
    /// all bytes. The rest of the range is not used. Each of `outer`, the innermost first, repeats
    /// all runs before it so many times, so many bytes apart.
    struct Runs {
        uint64_t rows = 0;
        uint64_t rowBytes = 0;
        uint64_t stride = 0;
        std::vector<std::pair<uint64_t, uint64_t>> outer = {};  // times, stride
    };
    Kind kind = Kind::kMemory;
    const char* name = nullptr;     // the argument's name, static text
    const void* address = nullptr;  // of the memory, or the handle
    uint64_t bytes = 0;
    Access access = Access::kUnknown;
    Runs runs = {};
    bool inexact = false;        // some of the bytes are used, and it is not known which
    bool leadsAnywhere = false;  // it has addresses, and the work uses the memory there
    Signal signal = Signal::kNone;
    uint64_t value = 0;  // of a word: the one that is written, or compared
    uint32_t flag = 0;   // how it is compared
    bool (*holds)(uint64_t word, uint64_t value, uint32_t flag) = nullptr;

    bool Reads() const { return access != Access::kWrites; }
    bool Writes() const { return access != Access::kReads; }
};

/// A point in a capture: the end of the first `position` tasks of a branch.
struct CapturePlace {
    std::weak_ptr<Recorder> capture;  // empty: no place
    int32_t branch = 0;
    size_t position = 0;
};

/// The code, of no call, for work whose check of memory is old.
inline constexpr int32_t kCheckIsOld = -1;

/// A check of memory that must still hold when the work is queued. The number at `epoch` grows
/// whenever an address may have become invalid (DeviceMemory::epoch). The stream compares it under
/// its lock, and makes the check again if memory has left meanwhile. A thread that takes memory
/// away lets the number grow first, and then looks for the work of each stream under the stream's
/// lock. So it finds the work, and keeps the memory until the work has ended, or the check is made
/// again.
struct MemoryCheck {
    const std::atomic<uint64_t>* epoch = nullptr;  // null: no memory was checked
    uint64_t at = 0;                               // the number before the check
    /// Called without the stream's lock. Null: the one who queues the work makes the check again.
    Status (*again)(const void* source) = nullptr;
    const void* source = nullptr;

    /// Returns whether memory may have left since the check. It is predicted not to have.
    bool IsOld(uint64_t checkedAt) const {
        return __builtin_expect(epoch->load(std::memory_order_seq_cst) != checkedAt, 0);
    }
    /// Makes the check once more. *checkedAt becomes the number before it.
    Status MakeAgain(uint64_t* checkedAt) const {
        *checkedAt = epoch->load(std::memory_order_seq_cst);
        return again(source);
    }
};

/// Returns a check that calls check() to be made again. It refers to the callable.
template <typename Check>
MemoryCheck CheckedAt(const std::atomic<uint64_t>& epoch, uint64_t at, const Check* check) {
    return {&epoch, at,
            [](const void* source) -> Status { return (*static_cast<const Check*>(source))(); },
            check};
}

/// The description of work that a caller passes to a stream beside the record of the work. Only a
/// recorder needs most of it.
struct Work {
    enum class Role : uint8_t {
        kOther,
        kLaunch,       // a kernel launch, which may be in a task group
        kEventRecord,  // leaves a place in a capture, and no task
        kEventWait,    // a wait for an event recorded outside the capture
        kModelRecord,  // a record that each replay makes for streams outside the capture
        kModelWait,    // a wait for the record that is the latest at the time of a replay
        kCallback,     // a callback, which goes to whoever is subscribed at the time of a replay
    };

    Work(size_t recordBytes) : bytes(recordBytes) {}  // NOLINT: most work is only its record

    size_t bytes;
    Role role = Role::kOther;
    int32_t refusal = 0;                // the code of a capture that refuses it; 0: none does
    const char* refusalText = nullptr;  // the message, "<what it is>; expected <rule>"
    void (*listUses)(const void* source, std::vector<Use>* uses) = nullptr;
    const void* source = nullptr;  // of listUses
    /// Hands the objects that the record refers to over to the recorder, which keeps them as long
    /// as the record.
    std::shared_ptr<void> (*takeOwner)(void* source) = nullptr;
    void* ownerSource = nullptr;
    CapturePlace* place = nullptr;  // kEventRecord: set if it was captured
    bool foreign = false;           // touches memory of another device than its stream's
    MemoryCheck memory;
};

/// A function that constructs a record in memory. It refers to a callable that outlives the call.
struct RecordFill {
    Task* (*make)(void* callable, void* memory);
    void* callable;

    Task* operator()(void* memory) const { return make(callable, memory); }
};

/// A stream that joins a capture.
struct JoiningStream {
    Handle stream = 0;
    Handle context = 0;
    const Status& refusal;  // of new work, after a failure; success: none
};

/// The object to which a stream hands its work instead of queueing it. The recorder's lock is taken
/// under the stream's.
class Recorder {
 public:
    virtual ~Recorder() = default;

    /// True once nothing is recorded any more. The stream then forgets the recorder.
    virtual bool Over() const = 0;
    /// True for a capture, whose streams cannot be waited for.
    virtual bool Captures() const = 0;

    /// 507903: the capture has been invalidated.
    virtual Status CheckActive() const = 0;

    /// Returns success with *over set if the recorder has ended meanwhile. Then nothing is
    /// recorded.
    virtual Status Record(int32_t branch, const Work& work, const RecordFill& fill, bool* over) = 0;
    /// Makes later work of the branch wait for the place. Does nothing once the recorder has ended.
    virtual Status RecordWait(int32_t branch, const CapturePlace& place,
                              int64_t timeoutNanoseconds) = 0;

    /// Opens a new branch for the stream, which begins with a wait for the place. *branch is -1 if
    /// nothing is recorded any more. 507903: the capture has been invalidated. 107003: the stream
    /// is of another context. The code of `refusal`: the stream refuses new work.
    virtual Status Join(const JoiningStream& stream, const CapturePlace& place,
                        int64_t timeoutNanoseconds, int32_t* branch) = 0;
};

}  // namespace advstep
