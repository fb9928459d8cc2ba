// SPDX-License-Identifier: Apache-2.0
// A thread's wait in the list of its stream.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "src/base/status.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// A wait of the calling thread, in the list of its stream from its entry until it leaves or ends.
class Stream::WaitInList {
 public:
    explicit WaitInList(Stream* stream) : stream_(*stream) {}
    ~WaitInList() {
        if (wait_.listed) {
            const std::lock_guard<std::mutex> lock(stream_.mutex_);
            stream_.waits_.Remove(&wait_);
        }
    }
    WaitInList(const WaitInList&) = delete;
    WaitInList& operator=(const WaitInList&) = delete;

    void EnterLocked() {
        if (!wait_.listed) {
            stream_.waits_.Add(&wait_);
        }
    }
    void LeaveLocked() {
        if (wait_.listed) {
            stream_.waits_.Remove(&wait_);
        }
    }
    AbortableWait* Get() { return &wait_; }
    int32_t AbortCode() const { return wait_.abortCode.load(std::memory_order_acquire); }

    /// Enters the wait for the task that is being queued, so that it misses nothing that becomes of
    /// the task. It is for the `fill` of Enqueue. An abort does not end the wait.
    void EnterForTaskLocked() {
        wait_.sequence = stream_.issued_.load(std::memory_order_relaxed) + 1;
        wait_.evenIfAborted = true;
        EnterLocked();
    }
    /// Waits for that task. Returns the code for which it was skipped, or success if it was run.
    /// 207000: as WaitFor.
    Status WaitForTask();

 private:
    Stream& stream_;
    AbortableWait wait_;
};

}  // namespace advstep
