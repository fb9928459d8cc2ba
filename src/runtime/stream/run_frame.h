// SPDX-License-Identifier: Apache-2.0
// The streams whose tasks a thread runs, innermost first.

#pragma once

#include <atomic>

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

/// A stream whose work may be part of a task of another stream, its parent: of a sub-graph.
class PartOfTask {
 public:
    /// Work that is queued from now on is part of a task of `parent`, which ends after it.
    void SetParent(Stream* parent) { parent_.store(parent, std::memory_order_relaxed); }

 protected:
    /// Whether the calling thread runs a task of this stream, or a part of one in another stream.
    bool NeedsThisThread() const;

    std::atomic<Stream*> parent_{nullptr};
};

}  // namespace advstep
