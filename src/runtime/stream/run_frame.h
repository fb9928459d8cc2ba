// SPDX-License-Identifier: Apache-2.0
// The streams whose tasks a thread runs, innermost first.

#pragma once

#include <atomic>
#include <vector>

#include "src/runtime/task/ticket.h"

namespace advstep {

class Stream;

/// While it lives, the calling thread runs a task of the stream. A task that waits may run tasks of
/// other streams in its thread: their frames are within its own.
class RunFrame {
 public:
    explicit RunFrame(Stream* stream) noexcept : stream_(stream), outer_(innermost) {
        innermost = this;
    }
    ~RunFrame() { innermost = outer_; }
    RunFrame(const RunFrame&) = delete;
    RunFrame& operator=(const RunFrame&) = delete;

    Stream* stream() const { return stream_; }
    const RunFrame* outer() const { return outer_; }

    /// Null: the thread runs no task.
    [[gnu::tls_model("initial-exec")]] static inline thread_local const RunFrame* innermost =
        nullptr;

 private:
    Stream* const stream_;
    const RunFrame* const outer_;
};

/// A stream whose work may be part of a task of another stream, its parent. A sub-graph of a
/// conditional task runs on such streams.
class PartOfTask {
 public:
    /// Makes work that is queued from now on part of a task of `parent`. That task ends after the
    /// work.
    void SetParent(Stream* parent) { parent_.store(parent, std::memory_order_relaxed); }

    /// Returns the number of streams of which this one's work is a part, one in a task of the next.
    int Depth() const;

    /// As ::advstep::InsideTaskBefore.
    static bool InsideTaskBefore(const std::vector<Ticket>& places);

 protected:
    /// Returns whether the calling thread runs a task of this stream, or a part of such a task in
    /// another stream.
    bool NeedsThisThread() const;

    std::atomic<Stream*> parent_{nullptr};
};

}  // namespace advstep
