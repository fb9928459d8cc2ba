// SPDX-License-Identifier: Apache-2.0
// The number of operators that may be queued in a stream before the thread that queues more waits.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace advstep_torch {

/// Counts the operators of a stream that have not been released. A program that never waits would
/// otherwise be minutes ahead of its stream, and the stream would be full in the end. On an NPU the
/// thread waits for room as well.
///
/// mutex_ is only for sleeping. The thread that releases an operator takes it if somebody waits.
class Backlog {
 public:
    /// Every stream has its own: one that waits for another stream's work must not keep that out.
    static Backlog& Of(const void* stream);

    void Entered() { count_.fetch_add(1); }
    void Left();

    /// Queued work needs no lock of Python's, so it goes on meanwhile. Ctrl-C ends the wait, and
    /// the operator is queued all the same: the limit is far below that of the runtime.
    void WaitForRoom();

 private:
    bool HasRoomSoon();

    static constexpr int64_t kMost = 2048;  // of the 2^20 tasks that a stream has room for
    static constexpr int64_t kLow = kMost / 2;

    std::atomic<int64_t> count_{0};
    std::atomic<int64_t> waiting_{0};
    std::mutex mutex_;
    std::condition_variable room_;
};

}  // namespace advstep_torch
