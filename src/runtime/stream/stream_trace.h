// SPDX-License-Identifier: Apache-2.0
// The trace of one stream: a slice for each task and each wait.

#pragma once

#include <cstdint>

#include "src/base/trace_event.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;

/// A stream's part of the trace. It belongs to the claimant, as the front record does. An enqueuer
/// touches it, under the stream's lock, when its task has just become the front. The caller checks
/// whether there is a trace (Trace::On).
class StreamTrace {
 public:
    void Open(const Device* device, int32_t stream, bool ofModel);

    /// Notes that a task has become the stream's oldest.
    void BecameOldest();

    /// Begin and End are called around a task that is run, or at the end of a wait. `code` is the
    /// result of the task.
    void Begin(const Ticket& place);
    void End(const Task& task, int32_t code) noexcept;

    /// Adds a task that is skipped, or a wait that is given up.
    void Skipped(const Task& task, const Ticket& place) noexcept;

 private:
    TraceTrack Track();

    const Device* device_ = nullptr;
    int32_t stream_ = 0;
    bool ofModel_ = false;
    bool hasTrack_ = false;
    TraceTrack track_;
    Ticket place_;             // the place of the task that has begun
    int64_t begin_ = 0;        // when the task began
    int64_t oldestSince_ = 0;  // when the front became the oldest task
};

}  // namespace advstep
