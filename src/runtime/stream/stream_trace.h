#pragma once

#include <cstdint>

#include "src/base/trace_event.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;

/// What a stream tells the trace of its tasks. It belongs to the claimant, as the front record
/// does; an enqueuer touches it, under the stream's lock, when its task has just become the front.
/// Whether there is a trace is for the caller to ask (Trace::On).
class StreamTrace {
 public:
    void Open(const Device* device, int32_t stream, bool ofModel);

    /// A task has become the stream's oldest.
    void BecameOldest();

    /// Around a task that is run, or at the end of a wait; `code` says how it ended.
    void Begin(const Ticket& place);
    void End(const Task& task, int32_t code) noexcept;

    /// The task is not run, or not waited for any more.
    void Skipped(const Task& task, const Ticket& place) noexcept;

 private:
    TraceTrack Track();

    const Device* device_ = nullptr;
    int32_t stream_ = 0;
    bool ofModel_ = false;
    bool hasTrack_ = false;
    TraceTrack track_;
    Ticket place_;             // of the task that has begun,
    int64_t begin_ = 0;        // and when
    int64_t oldestSince_ = 0;  // the front
};

}  // namespace advstep
