// How work gets into something else than a stream's queue: what a stream that is being captured, or
// whose launches replace a task group's, knows of whoever takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Recorder;

/// Something that work will use when it runs, and that may be gone by the time of a replay.
struct Use {
    enum class Kind : uint8_t { kMemory, kNotify };
    Kind kind = Kind::kMemory;
    const char* name = nullptr;     // of the argument; static text
    const void* address = nullptr;  // or the notify's handle
    uint64_t bytes = 0;
    uint64_t epoch = 0;  // of DeviceMemory, when it was captured: later memory is other memory
};

/// A point in a capture: the end of the first `position` tasks of a branch.
struct CapturePlace {
    std::weak_ptr<Recorder> capture;  // empty: none
    int32_t branch = 0;
    size_t position = 0;
};

/// What a stream is told of work beside its record; most of it matters only to a recorder.
struct Work {
    enum class Role : uint8_t {
        kOther,
        kLaunch,       // of a kernel: may be in a task group
        kEventRecord,  // leaves a place and no task in a capture
        kEventWait,    // for something outside the capture
    };

    Work(size_t recordBytes) : bytes(recordBytes) {}  // NOLINT: most work is only its record

    size_t bytes;
    Role role = Role::kOther;
    int32_t refusal = 0;                // the code of a capture that cannot take it, and
    const char* refusalText = nullptr;  // "<what it is>; expected <rule>"
    void (*listUses)(const void* source, std::vector<Use>* uses) = nullptr;
    const void* source = nullptr;   // of listUses
    CapturePlace* place = nullptr;  // kEventRecord: set if it was captured
    bool foreign = false;           // touches memory of another device than its stream's
};

/// Constructs a record in memory; refers to a callable that outlives the call.
struct RecordFill {
    Task* (*make)(void* callable, void* memory);
    void* callable;

    Task* operator()(void* memory) const { return make(callable, memory); }
};

/// A stream that a capture pulls in.
struct JoiningStream {
    Handle stream = 0;
    Handle context = 0;
    const Status& refusal;  // of new work, because an earlier task failed
};

/// Its lock comes after the streams'.
class Recorder {
 public:
    virtual ~Recorder() = default;

    /// Nothing is recorded any more; the stream forgets it.
    virtual bool Over() const = 0;
    /// A capture: the stream cannot be waited for.
    virtual bool Captures() const = 0;

    /// 507903: a capture that has been invalidated.
    virtual Status CheckActive() const = 0;

    virtual Status Record(int32_t branch, const Work& work, const RecordFill& fill) = 0;
    /// Later work of the branch waits for the place.
    virtual Status RecordWait(int32_t branch, const CapturePlace& place,
                              int64_t timeoutNanoseconds) = 0;

    /// A new branch for a stream that begins with a wait for the place; -1: nothing is recorded any
    /// more. Codes: 507903; 107003 a stream of another context; the stream's refusal.
    virtual Status Join(const JoiningStream& stream, const CapturePlace& place,
                        int64_t timeoutNanoseconds, int32_t* branch) = 0;
};

}  // namespace advstep
